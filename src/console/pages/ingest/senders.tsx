import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import type {
  LedgerEntry,
  UnattributedRefusal,
  Unattributed as UnattributedReport,
} from '../../../contract/shapes/ledger.ts';
import { useQuery } from '../../address.ts';
import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { plural } from '../../format.ts';
import { agoColumn, countColumn, Program } from '../../parts/columns.tsx';
import { Filter } from '../../parts/filters.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { hasRole } from '../../roles.ts';
import { KeyLink } from './keys.tsx';
import { adviceOn, filtered, senderName } from './reasons.ts';

interface SendersProps {
  readonly entries: readonly LedgerEntry[];
  readonly leftOut: number;
  readonly env: string;
}

/** The senders and the outcome of their packets. The address has the reader's filters. */
export function Senders({ entries, leftOut, env }: SendersProps) {
  const { query, change } = useQuery();
  const { outcome, reason, sender, sort = '' } = query;
  const rows = filtered(entries, { outcome, reason, search: sender });
  return (
    <section class="stack">
      <h2>Senders</h2>
      <Filters entries={entries} />
      <Table
        caption="Senders"
        columns={columns}
        rows={rows}
        rowKey={keyOf}
        sort={sort}
        onSort={(next) => change({ sort: next })}
        csv={`ingest-${env}`}
        stacked
        empty={
          entries.length === 0 ? 'Nothing was received in this range.' : 'No sender matches the filters.'
        }
      />
      {leftOut > 0 && <p class="quiet">{plural(leftOut, 'more row')}: choose a shorter range to see them.</p>}
    </section>
  );
}

const routes = {
  telemetry: 'Packets',
  usage: 'Usage reports',
  metrics: 'Metrics reports',
  identities: 'Instance ids',
  otlp: 'OpenTelemetry',
  unleash: 'Unleash SDKs',
};

const columns: readonly Column<LedgerEntry>[] = [
  {
    key: 'sender',
    title: 'Sender',
    value: senderName,
    csv: ({ sender: { userAgent, instance } }) => [instance, userAgent].filter(Boolean).join(' '),
    cell: (row) => <span title={row.sender.userAgent ?? undefined}>{senderName(row)}</span>,
    class: 'ingest-sender',
  },
  {
    key: 'what',
    title: 'Type',
    value: ({ route, transport }) => `${routes[route]}${transport === 'http' ? '' : `, ${transport}`}`,
  },
  { key: 'environment', title: 'Environment', value: ({ environment }) => environment ?? 'unknown' },
  {
    key: 'outcome',
    title: 'Outcome',
    value: ({ outcome }) => outcome,
    cell: ({ outcome }) => <span class={tones[outcome]}>{outcome}</span>,
  },
  {
    key: 'reason',
    title: 'Reason',
    value: ({ code }) => code ?? '',
    cell: ({ code }) => code !== null && <Code of={code} />,
  },
  countColumn('count', 'Count'),
  agoColumn('lastAt', 'Last', 'last'),
];

const tones = { accepted: 'good', refused: 'bad', noted: 'warn' };

function keyOf({ environment, transport, route, sender, outcome, status, code }: LedgerEntry): string {
  const { userAgent, instance } = sender;
  return JSON.stringify([environment, transport, route, outcome, status, code, userAgent, instance]);
}

function Filters({ entries }: { readonly entries: readonly LedgerEntry[] }) {
  const { reason } = useQuery().query;
  const codes = new Set(entries.flatMap(({ code }) => code ?? []));
  if (reason !== undefined) codes.add(reason);
  const ofCodes = Array.from(codes)
    .sort()
    .map((code) => [code] as const);
  return (
    <div class="filters">
      <Filter name="outcome" label="Outcome" options={[all, ['accepted'], ['refused'], ['noted']]} />
      <Filter name="reason" label="Reason" options={[all, ...ofCodes]} />
      <Filter name="sender" label="Sender" />
    </div>
  );
}

const all = ['', 'All'] as const;

function Code({ of }: { readonly of: string }) {
  return <code title={adviceOn(of).meaning}>{of}</code>;
}

const everyMs = 5000;

/** The latest refusals without an application; empty unless the user is an Admin. */
export function useUnattributed(pause = everyMs): readonly UnattributedRefusal[] {
  const path = hasRole('Admin') ? resource('unattributed') : undefined;
  return usePoll<UnattributedReport>(path, pause).data?.items ?? [];
}

interface UnattributedProps {
  readonly app: string;
  /** The keys that are shown by name. */
  readonly keys: readonly ApplicationKey[];
}

/** Refusals of requests with an unknown key or an unreadable body. */
export function Unattributed({ app, keys }: UnattributedProps) {
  const items = useUnattributed();
  if (items.length === 0) return null;
  return (
    <section class="stack">
      <h2>Refused, without an application</h2>
      <p class="quiet">
        The latest kinds since the server started: requests with unknown or revoked keys, and unreadable
        bodies. One of them may be yours.
      </p>
      <Table
        caption="Refused, without an application"
        columns={unattributedColumns(app, keys)}
        rows={items}
        rowKey={({ count, at, ...kind }) => JSON.stringify(kind)}
        csv="ingest-of-no-application"
        stacked
      />
    </section>
  );
}

const unattributedColumns = (
  app: string,
  keys: readonly ApplicationKey[],
): readonly Column<UnattributedRefusal>[] => [
  {
    key: 'code',
    title: 'Reason',
    value: ({ code }) => code,
    cell: ({ code }) => <Code of={code} />,
  },
  {
    key: 'key',
    title: 'Key',
    value: ({ keyPrefix }) => keyPrefix,
    cell: ({ keyPrefix }) => {
      const key = keys.find(({ prefix }) => prefix === keyPrefix);
      if (key !== undefined) return <KeyLink app={app} of={key} />;
      return keyPrefix === null ? '–' : <code>{keyPrefix}…</code>;
    },
  },
  { key: 'origin', title: 'Origin', value: ({ origin }) => origin },
  { key: 'environment', title: 'Environment', value: ({ environment }) => environment },
  {
    key: 'sender',
    title: 'Sender',
    value: ({ userAgent }) => userAgent,
    cell: ({ userAgent }) => (userAgent === null ? '–' : <Program userAgent={userAgent} />),
    class: 'ingest-sender',
  },
  countColumn('count', 'Count'),
  agoColumn('at', 'Last', 'last'),
];
