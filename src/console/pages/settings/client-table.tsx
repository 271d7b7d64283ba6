import { call } from '../../api/client.ts';
import type { Column } from '../../parts/table.tsx';
import type { ResourceTableProps } from './resource-table.tsx';

/** What API keys and sign-in clients have in common. */
interface Client {
  readonly clientId: string;
  readonly name: string;
}

/** The cell of a client id. */
export const clientId = ({ clientId }: Client) => <code>{clientId}</code>;

/**
 * The table of the OAuth clients of a team.
 * @param kind what a row is @param path of the list
 */
export function clientTable<Row extends Client>(
  kind: string,
  path: string,
  columns: readonly Column<Row>[],
): Omit<ResourceTableProps<Row>, 'list'> {
  return {
    caption: `${kind}s`,
    rowKey: ({ clientId }) => clientId,
    columns,
    remove: ({ clientId, name }) => ({
      title: `Delete the ${kind} ${name}`,
      action: `Delete the ${kind}`,
      done: `${name} is deleted`,
      onConfirm: () => call('DELETE', `${path}/${clientId}`),
      children: <p>The tokens that were issued to it are refused from now on.</p>,
    }),
  };
}
