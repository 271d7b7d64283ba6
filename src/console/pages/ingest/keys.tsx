import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import { applicationSettingsAddress } from '../../address/address.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { Ago, agoColumn } from '../../components/table/columns.tsx';
import { type Column, Table } from '../../components/table/table.tsx';
import { format } from '../../text/format.ts';
import { describeReason } from '../application-settings/key-use.tsx';

const everyMs = 10_000;

export function useKeys(app: string): readonly ApplicationKey[] {
  const path = resource('applications', app, 'keys');
  const read = (query: object) =>
    usePoll<{ readonly items: readonly ApplicationKey[] }>(withQuery(path, { limit: 200, ...query }), everyMs).data
      ?.items ?? [];
  return [...read({}), ...read({ revoked: true })];
}

export function Keys({ app, keys }: { readonly app: string; readonly keys: readonly ApplicationKey[] }) {
  const name: Column<ApplicationKey> = {
    key: 'name',
    title: 'Key',
    value: ({ name }) => name,
    cell: (key) => <KeyLink app={app} of={key} />,
  };
  return (
    <section class="stack">
      <h2>Keys</h2>
      <p class="quiet">For all environments, since each key was created.</p>
      <Table
        caption="Keys"
        columns={[name, ...columns]}
        rows={keys}
        rowKey={({ id }) => id}
        csv="ingest-keys"
        stacked
        empty="No keys yet. Senders need a key."
      />
    </section>
  );
}

const columns: readonly Column<ApplicationKey>[] = [
  { key: 'type', title: 'Type', value: ({ type }) => type },
  agoColumn('lastUsedAt', 'Last accepted'),
  {
    key: 'refused',
    title: 'Refused',
    number: true,
    value: ({ refused }) => refused.count,
    cell: ({ refused }) => format.full(refused.count),
  },
  {
    key: 'refusedAt',
    title: 'Last refused',
    value: ({ refused }) => refused.lastAt,
    cell: ({ refused }) => <Ago at={refused.lastAt} />,
  },
  { key: 'reason', title: 'Main reason', value: describeReason },
];

interface KeyLinkProps {
  readonly app: string;
  readonly of: Pick<ApplicationKey, 'id' | 'name' | 'revokedAt'>;
}

/** The name of a key, with a link to its row in the settings. */
export function KeyLink({ app, of: { id, name, revokedAt } }: KeyLinkProps) {
  return (
    <>
      <a href={applicationSettingsAddress(app, id)}>{name}</a>
      {revokedAt !== undefined && <span class="quiet"> (revoked)</span>}
    </>
  );
}
