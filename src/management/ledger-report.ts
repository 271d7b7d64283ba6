import type { IngestReport, LedgerEntry } from '../contract/shapes/ledger.ts';
import { mergeLedgerTotal } from '../storage/aggregate/merge.ts';
import {
  type LedgerOutcome,
  type LedgerSubject,
  type LedgerTotal,
  ledgerEntries,
  otherSenders,
  subjectText,
} from '../storage/lmdb/ledger.ts';
import type { Application, Environment } from '../storage/lmdb/records.ts';
import { fromSnapshot, type Reading, readEach } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { timeText } from './answers.ts';

export interface LedgerTask {
  readonly application: Pick<Application, 'number' | 'environments'>;
  /** The environment to report; `undefined` for all. */
  readonly only: Environment | undefined;
  /** Whether to include the rows without an environment. */
  readonly unnamed: boolean;
  readonly hours: Hours;
}

/** Hours since the epoch, `from` included, `to` excluded. */
interface Hours {
  readonly from: number;
  readonly to: number;
}

interface ReportedRow {
  readonly subject: LedgerSubject;
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
  yield* fromSnapshot(store.lmdb, function* (at) {
    const entries = ledgerEntries(store, application.number, hours.from, hours.to, at);
    yield* readEach(entries, ({ subject, count, lastAt, example }) => {
      const environment = present.has(subject.environment) ? subject.environment : null;
      const wanted = environment === null ? unnamed : environment === only?.number;
      if (only !== undefined && !wanted) return;
      mergeLedgerTotal(rowOf(rows, { ...subject, environment }).totals, { count, lastAt, example });
    });
  });
  return describe(task, [...rows.values()]);
}

function rowOf(rows: Map<string, ReportedRow>, subject: LedgerSubject): ReportedRow {
  const known = rows.get(subjectText(subject));
  if (known !== undefined) return known;
  const shown = rows.size < maxRows ? subject : { ...subject, userAgent: otherSenders, instance: null };
  const name = subjectText(shown);
  const row = rows.get(name) ?? { subject: shown, totals: { count: 0, lastAt: 0, example: null } };
  rows.set(name, row);
  return row;
}

const rank: Readonly<Record<LedgerOutcome, number>> = { refused: 0, noted: 1, accepted: 2 };

/** Refused rows come first, then noted ones, each the latest first. */
function byUrgency(a: ReportedRow, b: ReportedRow): number {
  return rank[a.subject.outcome] - rank[b.subject.outcome] || b.totals.lastAt - a.totals.lastAt;
}

function describe({ application, only, hours }: LedgerTask, rows: readonly ReportedRow[]): IngestReport {
  const { environments } = application;
  const names = new Map<number | null, string>(environments.map((each) => [each.number, each.name]));
  const total = (outcome: LedgerOutcome) =>
    rows.reduce((sum, { subject, totals }) => sum + (subject.outcome === outcome ? totals.count : 0), 0);
  const entries = [...rows].sort(byUrgency).slice(0, maxEntries);
  return {
    environment: only?.name ?? null,
    from: timeText(hours.from * 3_600_000),
    to: timeText(hours.to * 3_600_000),
    accepted: total('accepted'),
    refused: total('refused'),
    noted: total('noted'),
    entries: entries.map((row) => describeRow(row, names)),
    entriesLeftOut: rows.length - entries.length,
  };
}

function describeRow(
  { subject, totals }: ReportedRow,
  names: ReadonlyMap<number | null, string>,
): LedgerEntry {
  const { environment, transport, route, outcome, status, code, userAgent, instance } = subject;
  const sender = { userAgent, instance };
  const { count, lastAt, example } = totals;
  return {
    environment: names.get(environment) ?? null,
    transport,
    route,
    sender,
    outcome,
    status,
    code,
    count,
    lastAt: timeText(lastAt),
    example,
  };
}
