import type { UnattributedRefusalShown, UnattributedShown } from '../../../contract/shapes/ledger.ts';
import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { user } from '../../session.ts';
import { adviceOn } from './advice.ts';
import { countAndLast } from './columns.tsx';

const everyMs = 5000;

/** The latest refusals that belong to no application; empty unless the user is an Admin. */
export function useStrangers(pause = everyMs): readonly UnattributedRefusalShown[] {
  const path = user.value?.role === 'Admin' ? resource('unattributed') : undefined;
  return usePoll<UnattributedShown>(path, pause).data?.items ?? [];
}

/** Refusals of requests with an unknown key or an unreadable body. */
export function Strangers() {
  const items = useStrangers();
  if (items.length === 0) return null;
  return (
    <section class="ingest-section">
      <h2>Refused, and of no application</h2>
      <p class="quiet">
        The last kinds since the server has started, with keys that do not exist or bodies that cannot be
        read. Is one of them yours?
      </p>
      <Table
        caption="Refused, and of no application"
        columns={columns}
        rows={items}
        rowKey={(item) =>
          JSON.stringify([
            item.code,
            item.route,
            item.transport,
            item.keyPrefix,
            item.origin,
            item.userAgent,
            item.environment,
          ])
        }
        csv="ingest-of-no-application"
      />
    </section>
  );
}

const columns: readonly Column<UnattributedRefusalShown>[] = [
  {
    key: 'code',
    title: 'Reason',
    value: ({ code }) => code,
    cell: ({ code }) => <code title={adviceOn(code).meaning}>{code}</code>,
  },
  {
    key: 'key',
    title: 'Key',
    value: ({ keyPrefix }) => keyPrefix,
    cell: ({ keyPrefix }) => (keyPrefix === null ? '–' : <code>{keyPrefix}…</code>),
  },
  { key: 'origin', title: 'Origin', value: ({ origin }) => origin },
  { key: 'environment', title: 'Environment', value: ({ environment }) => environment },
  { key: 'sender', title: 'Sender', value: ({ userAgent }) => userAgent, class: 'ingest-sender' },
  ...countAndLast<UnattributedRefusalShown>(({ at }) => at),
];
