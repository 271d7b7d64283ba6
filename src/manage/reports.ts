import type { Clock } from '../clock.ts';
import { Refusal } from '../errors.ts';
import { parseQuery } from '../http/query.ts';
import type { Route } from '../http/types.ts';
import type { Application, Environment } from '../store/records.ts';
import type { Retention } from '../store/retention.ts';
import { okJson } from './answers.ts';
import type { ManageParts } from './caller.ts';
import type { ReportName, ReportPool } from './report-pool.ts';
import { readReportRange } from './report-range.ts';
import type { ReportTask } from './report-worker.ts';
import { type ApplicationCall, route } from './route.ts';

export interface ReportParts extends ManageParts {
  readonly reports: ReportPool;
  readonly clock: Clock;
  readonly retention: Retention;
}

/** `GET …/usage?environment=&feature=&from=&to=&step=` and `GET …/measurements?environment=&metric=&from=&to=&step=`. */
export function reportRoutes(parts: ReportParts): readonly Route[] {
  const make = async (name: ReportName, filter: string, { application, request }: ApplicationCall) => {
    const task = readTask(parts, application, parseQuery(request.query), filter);
    return okJson(await parts.reports.make(name, task));
  };
  return [
    route(parts, 'GET /applications/:id/usage', (call) => make('usage', 'feature', call)),
    route(parts, 'GET /applications/:id/measurements', (call) => make('measurements', 'metric', call)),
  ];
}

function readTask(
  { clock, retention }: ReportParts,
  application: Application,
  query: ReadonlyMap<string, string>,
  filter: string,
): ReportTask {
  const environment = findEnvironment(application, query.get('environment'));
  return { environment, range: readReportRange(query, clock.now(), retention), only: query.get(filter) };
}

/**
 * The environment that a query names.
 * @throws {Refusal} `invalid_query` when it names none, `unknown_environment`
 */
export function findEnvironment(application: Application, name: string | undefined): Environment {
  if (name === undefined) throw new Refusal('invalid_query', 'environment is missing');
  const environment = application.environments.find((each) => each.name === name);
  if (environment === undefined) {
    throw new Refusal('unknown_environment', 'The application has no such environment');
  }
  return environment;
}
