import { mergeTally } from '../aggregate/merge.ts';
import type { Clock } from '../clock.ts';
import { parseQuery } from '../http/query.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import {
  type LedgerOutcome,
  type LedgerSubject,
  type LedgerTally,
  ledgerEntries,
  otherSenders,
  subjectText,
} from '../store/ledger.ts';
import type { Application, Environment } from '../store/records.ts';
import type { Retention } from '../store/retention.ts';
import type { UsageStore } from '../store/usage.ts';
import { ok, timeText } from './answers.ts';
import type { ManageParts } from './caller.ts';
import { readReportRange } from './report-range.ts';
import { findEnvironment } from './reports.ts';
import { route } from './route.ts';
import { inTurns } from './turns.ts';

/** What the report covers: whole hours since the epoch, `from` included, `to` not. */
interface Hours {
  readonly from: number;
  readonly to: number;
}

interface ReportedRow {
  readonly subject: LedgerSubject;
  readonly tally: LedgerTally;
}

/** Rows that are told apart while the hours are added up: the latest hours come first. */
const mostRows = 5000;
/** Rows that a report shows. */
const mostEntries = 500;

/** The ledger has hours as long as it is kept. */
const forever = Number.POSITIVE_INFINITY;
const notRolledUp: Retention = { minutesMs: forever, hoursMs: forever, daysMs: forever };

/** What the ledger's report is made from. */
export interface IngestReportParts extends ManageParts {
  readonly store: UsageStore;
  readonly clock: Clock;
}

/**
 * `GET …/ingest?environment=&from=&to=`: what became of packets and reports, by the hour. Without an environment it is all
 * of the application's: also what named none that there was, and what was of one that has been deleted, both as `null`.
 * What was refused shows after a second.
 */
export function ingestReportRoutes(parts: IngestReportParts): readonly Route[] {
  return [
    route(parts, 'GET /applications/:id/ingest', ({ application, request }) =>
      answer(parts, application, request),
    ),
  ];
}

async function answer(
  { store, clock }: IngestReportParts,
  application: Application,
  request: Request,
): Promise<Reply> {
  const query = parseQuery(request.query);
  const name = query.get('environment');
  const only = name === undefined ? undefined : findEnvironment(application, name);
  const { from, to } = readReportRange(new Map(query).set('step', 'hour'), clock.now(), notRolledUp);
  const hours = { from: Math.floor(from / 60), to: Math.ceil(to / 60) };
  const rows = await addUp(store, application, only, hours);
  return ok(describe(application, only, hours, rows));
}

/** Adds the hours up, row by row. */
async function addUp(
  store: UsageStore,
  { number, environments }: Application,
  only: Environment | undefined,
  { from, to }: Hours,
): Promise<readonly ReportedRow[]> {
  store.ledger.resetReadTxn(); // What was answered 202 before this request is in the report.
  const present = new Set<number | null>(environments.map((each) => each.number));
  const rows = new Map<string, ReportedRow>();
  await inTurns(ledgerEntries(store, number, from, to), ({ subject, count, lastAt, example }) => {
    const environment = present.has(subject.environment) ? subject.environment : null;
    if (only !== undefined && environment !== only.number) return;
    mergeTally(rowOf(rows, { ...subject, environment }).tally, { count, lastAt, example });
  });
  return [...rows.values()];
}

function rowOf(rows: Map<string, ReportedRow>, subject: LedgerSubject): ReportedRow {
  const known = rows.get(subjectText(subject));
  if (known !== undefined) return known;
  const shown = rows.size < mostRows ? subject : { ...subject, userAgent: otherSenders, instance: null };
  const name = subjectText(shown);
  const row = rows.get(name) ?? { subject: shown, tally: { count: 0, lastAt: 0, example: null } };
  rows.set(name, row);
  return row;
}

const rank: Readonly<Record<LedgerOutcome, number>> = { refused: 0, noted: 1, accepted: 2 };

/** What needs a look comes first, and of that the latest. */
function byUrgency(a: ReportedRow, b: ReportedRow): number {
  return rank[a.subject.outcome] - rank[b.subject.outcome] || b.tally.lastAt - a.tally.lastAt;
}

function describe(
  { environments }: Application,
  only: Environment | undefined,
  { from, to }: Hours,
  rows: readonly ReportedRow[],
): object {
  const names = new Map<number | null, string>(environments.map((each) => [each.number, each.name]));
  const total = (outcome: LedgerOutcome) =>
    rows.reduce((sum, { subject, tally }) => sum + (subject.outcome === outcome ? tally.count : 0), 0);
  const entries = [...rows].sort(byUrgency).slice(0, mostEntries);
  return {
    environment: only?.name ?? null,
    from: timeText(from * 3_600_000),
    to: timeText(to * 3_600_000),
    accepted: total('accepted'),
    refused: total('refused'),
    noted: total('noted'),
    entries: entries.map((row) => describeRow(row, names)),
    entriesLeftOut: rows.length - entries.length,
  };
}

function describeRow({ subject, tally }: ReportedRow, names: ReadonlyMap<number | null, string>): object {
  const { environment, transport, route, outcome, status, code, userAgent, instance } = subject;
  const sender = { userAgent, instance };
  const { count, lastAt, example } = tally;
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
