import type { ComponentChildren } from 'preact';
import { hasRole } from '../../reader/reader.tsx';
import { ConfirmButton, type ConfirmButtonProps } from '../form/confirm.tsx';
import { CreateButton, type CreateButtonProps } from '../form/create.tsx';
import { actionsColumn } from '../table/columns.tsx';
import { ListTable, type ListTableProps } from '../table/list-table.tsx';

export type Removal = Omit<ConfirmButtonProps, 'onClose' | 'label'> & { readonly label?: string };

interface ResourceTableProps<Row> extends Omit<ListTableProps<Row>, 'stacked'> {
  /** Buttons of a row, shown before its remove button. */
  readonly actions?: (row: Row) => ComponentChildren;
  /** Describes how a row is removed; `undefined` for a row without a remove button. */
  readonly remove?: (row: Row) => Removal | undefined;
  readonly create?: Omit<CreateButtonProps, 'onDone'>;
}

/** A table with buttons for creating and removing items. Reloads the list after each change. */
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
  return (
    <>
      <ListTable
        stacked
        empty="No entries yet."
        columns={hasRole('Admin') && remove ? [...columns, actionsColumn(cell)] : columns}
        {...table}
      />
      {hasRole('Admin') && create && <CreateButton {...create} onDone={reload} />}
    </>
  );
}
