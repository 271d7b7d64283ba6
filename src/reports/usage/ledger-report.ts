import { surplusName } from '../../contract/names.ts';
import type { IngestReport, LedgerEntry } from '../../contract/shapes/ledger.ts';
import { timeText } from '../../runtime/rfc3339.ts';
import { mergeLedgerTotal } from '../../storage/aggregate/merge.ts';
import {
  encodeDimensions,
  type LedgerDimensions,
  type LedgerOutcome,
  type LedgerTotal,
  ledgerEntries,
} from '../../storage/lmdb/ledger.ts';
import type { Application, Environment } from '../../storage/lmdb/records.ts';
import { fromSnapshot, type Reading, readEach } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { VersionCounter } from './version-counts.ts';

export interface LedgerTask {
  readonly application: Pick<Application, 'number' | 'environments'>;
  /** The environment to report; `undefined` for all. */
  readonly only: Environment | undefined;
  /** True to include the rows without an environment. */
  readonly unnamed: boolean;
  readonly hours: Hours;
  /** Program whose messages are also counted by version, if any. */
  readonly versionsOf?: string | undefined;
  /** Ids and names of keys, for the examples. */
  readonly keys: readonly (readonly [id: string, name: string])[];
}

/** Hours since the epoch, `from` included, `to` excluded. */
interface Hours {
  readonly from: number;
  readonly to: number;
}

interface ReportedRow {
  readonly subject: LedgerDimensions;
  readonly totals: LedgerTotal;
}

/** Maximum number of rows in memory. Further senders share a row. */
const maxRows = 5000;
const maxEntries = 500;

/** Adds up the hours of an application's ledger. */
export function* ledgerReport(store: UsageTables, task: LedgerTask): Reading<IngestReport> {
  const { application, only, unnamed, hours } = task;
  const present = new Set<number | null>(application.environments.map((each) => each.number));
  const rows = new Map<string, ReportedRow>();
  const counter = task.versionsOf === undefined ? undefined : new VersionCounter(task.versionsOf, hours);
  yield* fromSnapshot(store.lmdb, function* (at) {
    const entries = ledgerEntries(store, application.number, hours.from, hours.to, at);
    yield* readEach(entries, (entry) => {
      const { dimensions, count, lastAt, example } = entry;
      const environment = present.has(dimensions.environment) ? dimensions.environment : null;
      const wanted = environment === null ? unnamed : environment === only?.number;
      if (only !== undefined && !wanted) return;
      counter?.add(entry);
      mergeLedgerTotal(ensureRow(rows, { ...dimensions, environment }).totals, { count, lastAt, example });
    });
  });
  return { ...describe(task, [...rows.values()]), ...(counter && { versions: counter.versions }) };
}

function ensureRow(rows: Map<string, ReportedRow>, subject: LedgerDimensions): ReportedRow {
  const known = rows.get(encodeDimensions(subject));
  if (known !== undefined) return known;
  const shown = rows.size < maxRows ? subject : { ...subject, userAgent: surplusName, instance: null };
  const name = encodeDimensions(shown);
  const row = rows.get(name) ?? { subject: shown, totals: { count: 0, lastAt: 0, example: null } };
  rows.set(name, row);
  return row;
}

const rank: Readonly<Record<LedgerOutcome, number>> = { refused: 0, noted: 1, accepted: 2 };

/** Orders rows by outcome: refused, noted, accepted. Rows with the same outcome have the latest row first. */
function byUrgency(a: ReportedRow, b: ReportedRow): number {
  return rank[a.subject.outcome] - rank[b.subject.outcome] || b.totals.lastAt - a.totals.lastAt;
}

function describe(task: LedgerTask, rows: readonly ReportedRow[]): IngestReport {
  const { only, hours } = task;
  const names = namesIn(task);
  const unnamed = rows.filter(({ subject }) => subject.environment === null);
  const counted = only === undefined ? rows : rows.filter(({ subject }) => subject.environment !== null);
  const entries = [...rows].sort(byUrgency).slice(0, maxEntries);
  return {
    environment: only?.name ?? null,
    from: timeText(hours.from * 3_600_000),
    to: timeText(hours.to * 3_600_000),
    ...sumTotals(counted),
    unnamed: sumTotals(unnamed),
    entries: entries.map((row) => describeRow(row, names)),
    entriesLeftOut: rows.length - entries.length,
  };
}

function sumTotals(rows: readonly ReportedRow[]): IngestReport['unnamed'] {
  const of = (outcome: LedgerOutcome) =>
    rows.reduce((sum, { subject, totals }) => sum + (subject.outcome === outcome ? totals.count : 0), 0);
  return { accepted: of('accepted'), refused: of('refused'), noted: of('noted') };
}

interface Names {
  readonly environments: ReadonlyMap<number | null, string>;
  readonly keys: ReadonlyMap<string | undefined, string>;
}

/** Returns the names of the environments and keys in the rows of a report. */
export function namesIn({ application, keys }: Pick<LedgerTask, 'application' | 'keys'>): Names {
  const environments = application.environments.map(({ number, name }) => [number, name] as const);
  return { environments: new Map(environments), keys: new Map(keys) };
}

/** Adds the name of its key to an example, unless the key is unknown. */
export function withKeyName(example: LedgerTotal['example'], { keys }: Names): LedgerEntry['example'] {
  const keyName = keys.get(example?.keyId);
  return example === null || keyName === undefined ? example : { ...example, keyName };
}

function describeRow({ subject, totals }: ReportedRow, names: Names): LedgerEntry {
  const { environment, transport, route, outcome, status, code, userAgent, instance } = subject;
  const sender = { userAgent, instance };
  return {
    environment: names.environments.get(environment) ?? null,
    transport,
    route,
    sender,
    outcome,
    status,
    code,
    count: totals.count,
    lastAt: timeText(totals.lastAt),
    example: withKeyName(totals.example, names),
  };
}
