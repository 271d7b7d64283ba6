import type { Clock } from '../clock.ts';
import { parseQuery } from '../http/query.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import type { Application } from '../store/records.ts';
import type { Retention } from '../store/retention.ts';
import { okJson } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import type { ReportPool } from './report-pool.ts';
import { readReportRange } from './report-range.ts';
import { findEnvironment } from './reports.ts';
import { route } from './route.ts';

/** The ledger has hours as long as it is kept. */
const forever = Number.POSITIVE_INFINITY;
const notRolledUp: Retention = { minutesMs: forever, hoursMs: forever, daysMs: forever };

/** What the ledger's report is made from. */
export interface IngestReportDeps extends ManageDeps {
  readonly reports: ReportPool;
  readonly clock: Clock;
}

/**
 * `GET …/ingest?environment=&from=&to=`: what became of packets and reports, by the hour. Without an environment it is all
 * of the application's: also what named none that there was, and what was of one that has been deleted, both as `null`.
 * What was refused shows after a second.
 */
export function ingestReportRoutes(parts: IngestReportDeps): readonly Route[] {
  return [
    route(parts, 'GET /applications/:id/ingest', ({ application, request }) =>
      answer(parts, application, request),
    ),
  ];
}

async function answer(
  { reports, clock }: IngestReportDeps,
  { teamId, number, environments }: Application,
  request: Request,
): Promise<Reply> {
  const query = parseQuery(request.query);
  const name = query.get('environment');
  const only = name === undefined ? undefined : findEnvironment(environments, name);
  const { from, to } = readReportRange(new Map(query).set('step', 'hour'), clock.now(), notRolledUp);
  const hours = { from: Math.floor(from / 60), to: Math.ceil(to / 60) };
  return okJson(await reports.make(teamId, 'ledger', { application: { number, environments }, only, hours }));
}
