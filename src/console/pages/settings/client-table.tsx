import { call } from '../../api/client.ts';
import { format } from '../../format.ts';
import type { Column } from '../../parts/table.tsx';
import type { ResourceTableProps } from './resource-table.tsx';

/** What API keys and sign-in clients have in common. */
interface Client {
  readonly clientId: string;
  readonly name: string;
  readonly createdAt: string;
}

/**
 * The table of the OAuth clients of a team.
 * @param kind what a row is @param path of the list @param columns that the other kind does not have
 */
export function clientTable<Row extends Client>(
  kind: string,
  path: string,
  columns: readonly Column<Row>[],
): Omit<ResourceTableProps<Row>, 'list'> {
  return {
    caption: `${kind}s`,
    rowKey: ({ clientId }) => clientId,
    columns: [
      { key: 'name', title: 'Name', cell: ({ name }) => name },
      { key: 'clientId', title: 'Client id', cell: ({ clientId }) => <code>{clientId}</code> },
      ...columns,
      { key: 'createdAt', title: 'Created', cell: ({ createdAt }) => format.time(createdAt) },
    ],
    remove: ({ clientId, name }) => ({
      title: `Delete the ${kind} ${name}`,
      action: `Delete the ${kind}`,
      done: `${name} is deleted`,
      onConfirm: () => call('DELETE', `${path}/${clientId}`),
      children: <p>The tokens that were issued to it are refused from now on.</p>,
    }),
  };
}
