import { call } from '../../api/client.ts';
import type { List } from '../../api/list.ts';
import { format } from '../../format.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import type { Column } from '../../parts/table.tsx';
import { actionsColumn } from './actions-column.tsx';

/** What API keys and sign-in clients have in common. */
interface Client {
  readonly clientId: string;
  readonly name: string;
  readonly createdAt: string;
}

export interface ClientTableProps<Row> {
  /** What a row is. */
  readonly kind: string;
  readonly list: List<Row>;
  /** Of the list. */
  readonly path: string;
  /** The columns that the others have not. */
  readonly columns: readonly Column<Row>[];
}

/** A table of the OAuth clients of a team. */
export function ClientTable<Row extends Client>({ kind, list, path, columns }: ClientTableProps<Row>) {
  return (
    <ListTable
      stacked
      list={list}
      caption={`${kind}s`}
      rowKey={({ clientId }) => clientId}
      empty="There is none."
      columns={[
        { key: 'name', title: 'Name', cell: ({ name }) => name },
        { key: 'clientId', title: 'Client id', cell: ({ clientId }) => <code>{clientId}</code> },
        ...columns,
        { key: 'createdAt', title: 'Created', cell: ({ createdAt }) => format.time(createdAt) },
        ...actionsColumn(({ clientId, name }: Row) => (
          <ConfirmButton
            label="Delete"
            title={`Delete the ${kind} ${name}`}
            action={`Delete the ${kind}`}
            done={`${name} is deleted`}
            onConfirm={async () => {
              await call('DELETE', `${path}/${clientId}`);
              await list.reload();
            }}
          >
            <p>The tokens that were issued to it are refused from now on.</p>
          </ConfirmButton>
        )),
      ]}
    />
  );
}
