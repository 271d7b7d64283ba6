import type { ApplicationKey } from '../../../contract/shapes/application-key.ts';
import type {
  LedgerEntry,
  RefusedToken,
  UnattributedRefusal,
  UnattributedReport,
} from '../../../contract/shapes/ledger.ts';
import { useQuery } from '../../address/address.ts';
import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { Filter } from '../../components/form/filters.tsx';
import { agoColumn, countColumn, Program } from '../../components/table/columns.tsx';
import { type Column, ExportTable, Table } from '../../components/table/table.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format, plural } from '../../text/format.ts';
import { KeyLink } from './keys.tsx';
import { type Counts, formatType, outcomes, programsIn, type SendingProgram } from './programs.ts';
import { adviceOn, filtered } from './reasons.ts';

interface SendersProps {
  readonly entries: readonly LedgerEntry[];
  readonly leftOut: number;
  readonly env: string;
}

export function Senders({ entries, leftOut, env }: SendersProps) {
  const { query, change } = useQuery();
  const { outcome, reason, sender, sort = '' } = query;
  const rows = filtered(entries, { outcome, reason, search: sender });
  const isFiltered = outcome !== undefined || reason !== undefined;
  const shown = outcomes.filter((each) => !isFiltered || rows.some((row) => row.outcome === each));
  return (
    <section class="stack">
      <h2>Senders</h2>
      <div class="filters">
        <Filters entries={entries} />
        {rows.length > 0 && <ExportTable caption="Senders" name={`ingest-${env}`} columns={savedColumns} rows={rows} />}
      </div>
      <Table
        caption="Senders"
        columns={programColumns(shown)}
        rows={programsIn(rows)}
        rowKey={({ name }) => name}
        sort={sort}
        onSort={(next) => change({ sort: next })}
        stacked
        empty={entries.length === 0 ? 'Nothing was received in this range.' : 'No sender matches the filters.'}
      />
      {leftOut > 0 && (
        <p class="quiet">{plural(leftOut, 'more entry', 'more entries')}: choose a shorter range to see them.</p>
      )}
    </section>
  );
}

const titles = { accepted: 'Accepted', refused: 'Refused', noted: 'Accepted with a warning' };
const tones = { accepted: undefined, refused: 'bad', noted: 'warn' };

function programColumns(shown: readonly LedgerEntry['outcome'][]): Column<SendingProgram>[] {
  return [
    {
      key: 'sender',
      title: 'Program',
      value: ({ name }) => name,
      cell: (row) => <Name of={row} />,
      class: 'ingest-sender',
    },
    { key: 'what', title: 'Type', value: ({ types }) => types.join('; ') },
    ...shown.map((outcome) => ({
      key: outcome,
      title: titles[outcome],
      number: true,
      value: ({ counts }: SendingProgram) => counts[outcome],
      cell: ({ counts }: SendingProgram) => <Count counts={counts} of={outcome} />,
    })),
    {
      key: 'reason',
      title: 'Reasons',
      value: ({ codes }) => codes.join(' '),
      cell: ({ codes }) => codes.map((code) => [<Code key={code} of={code} />, ' ']),
    },
    agoColumn('lastAt', 'Last', 'last'),
  ];
}

function Count({ counts, of }: { readonly counts: Counts; readonly of: LedgerEntry['outcome'] }) {
  if (counts[of] === 0) return <span class="quiet">–</span>;
  return <span class={tones[of]}>{format.full(counts[of])}</span>;
}

/** The name of a program with its version, or with a link to the counts of its versions. */
function Name({ of: { name, versions } }: { readonly of: SendingProgram }) {
  const { change } = useQuery();
  const [only] = versions;
  if (versions.length === 1)
    return <span title={only!.userAgents.join('\n')}>{[name, only!.label].filter(Boolean).join(' ')}</span>;
  return (
    <>
      {name}{' '}
      <button type="button" class="link" onClick={() => change({ program: name }, true)}>
        {plural(versions.length, 'version')}
      </button>
    </>
  );
}

/** The CSV file has a row for each version, environment, outcome and reason. */
const savedColumns: readonly Column<LedgerEntry>[] = [
  {
    key: 'sender',
    title: 'Sender',
    value: ({ sender: { userAgent, instance } }) => [instance, userAgent].filter(Boolean).join(' '),
  },
  { key: 'what', title: 'Type', value: formatType },
  { key: 'environment', title: 'Environment', value: ({ environment }) => environment ?? 'unknown' },
  { key: 'outcome', title: 'Outcome', value: ({ outcome }) => outcome },
  { key: 'reason', title: 'Reason', value: ({ code }) => code ?? '' },
  countColumn('count', 'Count'),
  agoColumn('lastAt', 'Last', 'last'),
];

function Filters({ entries }: { readonly entries: readonly LedgerEntry[] }) {
  const { reason } = useQuery().query;
  const codes = new Set(entries.flatMap(({ code }) => code ?? []));
  if (reason !== undefined) codes.add(reason);
  const ofCodes = Array.from(codes)
    .sort()
    .map((code) => [code] as const);
  return (
    <>
      <Filter
        name="outcome"
        label="Outcome"
        options={[all, ...outcomes.map((each) => [each, titles[each]] as const)]}
      />
      <Filter name="reason" label="Reason" options={[all, ...ofCodes]} />
      <Filter name="sender" label="Sender" />
    </>
  );
}

const all = ['', 'All'] as const;

function Code({ of }: { readonly of: string }) {
  return <code title={adviceOn(of).meaning}>{of}</code>;
}

const everyMs = 5000;

/** The latest refusals without an application; `undefined` unless the user is an Admin. */
export function useUnattributed(pause = everyMs): UnattributedReport | undefined {
  const path = hasRole('Admin') ? resource('unattributed') : undefined;
  return usePoll<UnattributedReport>(path, pause).data;
}

export function RefusedTokens({ tokens }: { readonly tokens: readonly RefusedToken[] }) {
  if (tokens.length === 0) return null;
  return (
    <>
      <p>
        <strong class="warn">Refused: these tokens are not adopted.</strong> Most SDKs discard refused messages. Adopt
        the tokens that the services send.
      </p>
      <Table
        caption="Refused tokens of the last day"
        columns={tokenColumns}
        rows={tokens}
        rowKey={({ token, sender }) => JSON.stringify([token, sender])}
        csv="refused-tokens"
        stacked
      />
    </>
  );
}

const tokenColumns: readonly Column<RefusedToken>[] = [
  { key: 'token', title: 'Token', value: ({ token }) => token, cell: ({ token }) => <code>{token}</code> },
  { key: 'sender', title: 'Service', value: ({ sender }) => sender },
  countColumn('count', 'Refused'),
  agoColumn('since', 'Since', 'since'),
  agoColumn('lastAt', 'Last', 'last'),
];

interface UnattributedProps {
  readonly app: string;
  readonly keys: readonly ApplicationKey[];
}

export function Unattributed({ app, keys }: UnattributedProps) {
  const { items = [], tokens = [] } = useUnattributed() ?? {};
  if (items.length + tokens.length === 0) return null;
  return (
    <section class="stack">
      <h2>Refused, without an application</h2>
      <p class="quiet">
        The latest kinds of refusals since the server started: requests with unknown or revoked keys, and unreadable
        bodies. One of them might be yours.
      </p>
      <RefusedTokens tokens={tokens} />
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

const unattributedColumns = (app: string, keys: readonly ApplicationKey[]): readonly Column<UnattributedRefusal>[] => [
  { key: 'code', title: 'Reason', value: ({ code }) => code, cell: ({ code }) => <Code of={code} /> },
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
