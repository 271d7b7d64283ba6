import type { ComponentChildren } from 'preact';
import { ConfirmButton, type ConfirmButtonProps } from '../form/confirm.tsx';
import { CreateButton, type CreateButtonProps } from '../form/create.tsx';
import { type Column, ListTable, type ListTableProps } from '../table/table.tsx';
import { isAdmin } from './part.tsx';

/** The confirmation and the request that remove a row. */
export type Removal = Omit<ConfirmButtonProps, 'onClose' | 'label'> & { readonly label?: string };

/** A table of a resource, with the actions of an Admin. */
interface ResourceTableProps<Row> extends Omit<ListTableProps<Row>, 'stacked'> {
  /** Buttons of a row before the one that removes it. */
  readonly actions?: (row: Row) => ComponentChildren;
  /** `undefined` for a row without buttons. */
  readonly remove?: (row: Row) => Removal | undefined;
  readonly create?: Omit<CreateButtonProps, 'onDone'>;
}

/** A table with buttons that create and remove. Reloads the list after each change. */
export function ResourceTable<Row>(props: ResourceTableProps<Row>) {
  const { columns, actions, remove, create, ...table } = props;
  const { reload } = table.list;
  const cell = (row: Row) => {
    const removal = remove?.(row);
    return (
      removal && (
        <span class="actions">
          {actions?.(row)}
          <ConfirmButton
            label="Delete"
            {...removal}
            onConfirm={async () => {
              const done = await removal.onConfirm();
              await reload();
              return done;
            }}
          />
        </span>
      )
    );
  };
  const buttons: Column<Row> = { key: 'do', title: 'Actions', class: 'settings-do', cell };
  return (
    <>
      <ListTable
        stacked
        empty="None yet."
        columns={isAdmin() && remove ? [...columns, buttons] : columns}
        {...table}
      />
      {isAdmin() && create && <CreateButton {...create} onDone={reload} />}
    </>
  );
}
