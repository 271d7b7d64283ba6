import type { LedgerEntryShown } from '../../../contract/shapes/ledger.ts';
import { useQuery } from '../../address.ts';
import { plural } from '../../format.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { adviceOn } from './advice.ts';
import { countAndLast } from './columns.tsx';
import { filtered, senderName } from './reasons.ts';

interface SendersProps {
  readonly entries: readonly LedgerEntryShown[];
  readonly leftOut: number;
  readonly env: string;
}

/** Who sent what, and what became of it. What the reader has chosen is in the address. */
export function Senders({ entries, leftOut, env }: SendersProps) {
  const { query, change } = useQuery();
  const { outcome, reason, sender, sort = '' } = query;
  const rows = filtered(entries, { outcome, reason, search: sender });
  return (
    <section class="ingest-section">
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
        empty={entries.length === 0 ? 'Nothing came in this range.' : 'No sender is like this.'}
      />
      {leftOut > 0 && <p class="quiet">{plural(leftOut, 'row')} more: choose a shorter range to see them.</p>}
    </section>
  );
}

const routes = {
  telemetry: 'Packets',
  usage: 'Usage reports',
  metrics: 'Metrics reports',
  identities: 'Instance ids',
};

const columns: readonly Column<LedgerEntryShown>[] = [
  { key: 'sender', title: 'Sender', value: senderName, class: 'ingest-sender' },
  {
    key: 'what',
    title: 'What',
    value: ({ route, transport }) => `${routes[route]}${transport === 'http' ? '' : `, ${transport}`}`,
  },
  { key: 'environment', title: 'Environment', value: ({ environment }) => environment ?? 'none that exists' },
  {
    key: 'outcome',
    title: 'Outcome',
    value: ({ outcome }) => outcome,
    cell: ({ outcome }) => <Outcome of={outcome} />,
  },
  {
    key: 'reason',
    title: 'Reason',
    value: ({ code }) => code ?? '',
    cell: ({ code }) => (code === null ? '' : <code title={adviceOn(code).meaning}>{code}</code>),
  },
  ...countAndLast<LedgerEntryShown>(({ lastAt }) => lastAt),
];

const tones = { accepted: 'good', refused: 'bad', noted: 'warn' };

function Outcome({ of }: { readonly of: LedgerEntryShown['outcome'] }) {
  return <span class={tones[of]}>{of}</span>;
}

function keyOf({ environment, transport, route, sender, outcome, status, code }: LedgerEntryShown): string {
  const { userAgent, instance } = sender;
  return JSON.stringify([environment, transport, route, outcome, status, code, userAgent, instance]);
}

function Filters({ entries }: { readonly entries: readonly LedgerEntryShown[] }) {
  const { query, change } = useQuery();
  const { outcome = '', reason = '', sender = '' } = query;
  const codes = new Set(entries.flatMap(({ code }) => code ?? []));
  if (reason !== '') codes.add(reason);
  return (
    <div class="ingest-filters">
      <label>
        Outcome
        <select
          value={outcome}
          onChange={(event) => change({ outcome: event.currentTarget.value || undefined })}
        >
          <option value="">All</option>
          <option value="accepted">accepted</option>
          <option value="refused">refused</option>
          <option value="noted">noted</option>
        </select>
      </label>
      <label>
        Reason
        <select
          value={reason}
          onChange={(event) => change({ reason: event.currentTarget.value || undefined })}
        >
          <option value="">All</option>
          {[...codes].sort().map((code) => (
            <option key={code} value={code}>
              {code}
            </option>
          ))}
        </select>
      </label>
      <label>
        Sender
        <input
          type="search"
          value={sender}
          onInput={(event) => change({ sender: event.currentTarget.value || undefined })}
        />
      </label>
    </div>
  );
}
