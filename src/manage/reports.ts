import type { Directory } from '../accounts/directory.ts';
import type { Clock } from '../clock.ts';
import { ApiError } from '../errors.ts';
import { parseQuery } from '../http/query.ts';
import type { Route } from '../http/types.ts';
import type { Application, Environment } from '../store/records.ts';
import type { Retention } from '../store/retention.ts';
import { okJson } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import type { UsageTask } from './make-report.ts';
import type { ReportPool } from './report-pool.ts';
import { readReportRange } from './report-range.ts';
import { type ApplicationCall, route } from './route.ts';

export interface ReportDeps extends ManageDeps {
  readonly reports: ReportPool;
  readonly clock: Clock;
  readonly retention: Retention;
}

/** `GET …/usage?environment=&feature=&from=&to=&step=` and `GET …/measurements?environment=&metric=&from=&to=&step=`. */
export function reportRoutes(parts: ReportDeps): readonly Route[] {
  const { reports } = parts;
  return [
    route(parts, 'GET /applications/:id/usage', async (call) =>
      okJson(await reports.make(call.application.teamId, 'usage', readTask(parts, call, 'feature'))),
    ),
    route(parts, 'GET /applications/:id/measurements', async (call) => {
      const gauges = gaugesOf(parts.directory, call.application);
      const task = { ...readTask(parts, call, 'metric'), gauges };
      return okJson(await reports.make(call.application.teamId, 'measurements', task));
    }),
  ];
}

function readTask(
  { clock, retention }: ReportDeps,
  { application, request }: ApplicationCall,
  filter: 'feature' | 'metric',
): UsageTask {
  const query = parseQuery(request.query);
  const environment = findEnvironment(application.environments, query.get('environment'));
  return { environment, range: readReportRange(query, clock.now(), retention), only: query.get(filter) };
}

function gaugesOf({ metricsOf }: Directory, { id }: Application): ReadonlySet<string> {
  const gauges = [...metricsOf(id).values()].filter(({ kind }) => kind === 'gauge');
  return new Set(gauges.map(({ name }) => name));
}

/**
 * The environment that a query names.
 * @throws {ApiError} `invalid_query` when it names none, `unknown_environment`
 */
export function findEnvironment(environments: readonly Environment[], name: string | undefined): Environment {
  if (name === undefined) throw new ApiError('invalid_query', 'environment is missing');
  const environment = environments.find((each) => each.name === name);
  if (environment !== undefined) return environment;
  const meant = environments.find((each) => each.name.toLowerCase() === name.toLowerCase());
  const hint = meant === undefined ? '' : `; case matters, and there is ${meant.name}`;
  throw new ApiError('unknown_environment', `The application has no such environment${hint}`);
}
