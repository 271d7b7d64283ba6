import type { Clock } from '../clock.ts';
import { Refusal } from '../errors.ts';
import { parseQuery } from '../http/query.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import type { Application, Environment } from '../store/records.ts';
import type { Retention } from '../store/retention.ts';
import type { UsageStore } from '../store/usage.ts';
import { ok } from './answers.ts';
import { type ManageParts, withApplication } from './caller.ts';
import { measurementsReport } from './measurements-report.ts';
import { type ReportRange, readReportRange } from './report-range.ts';
import { usageReport } from './usage-report.ts';

export interface ReportParts extends ManageParts {
  readonly store: UsageStore;
  readonly clock: Clock;
  readonly retention: Retention;
}

type Report = (
  store: UsageStore,
  environment: Environment,
  range: ReportRange,
  only: string | undefined,
) => Promise<object>;

/** `GET …/usage?environment=&feature=&from=&to=&step=` and `GET …/measurements?environment=&metric=&from=&to=&step=`. */
export function reportRoutes(parts: ReportParts): readonly Route[] {
  const route = (name: string, filter: string, report: Report): Route => ({
    method: 'GET',
    path: `/api/v2/applications/:id/${name}`,
    handle: withApplication(parts, 'members', (application, request) =>
      answer(parts, application, request, filter, report),
    ),
  });
  return [route('usage', 'feature', usageReport), route('measurements', 'metric', measurementsReport)];
}

async function answer(
  { store, clock, retention }: ReportParts,
  application: Application,
  request: Request,
  filter: string,
  report: Report,
): Promise<Reply> {
  const query = parseQuery(request.query);
  const environment = findEnvironment(application, query.get('environment'));
  const range = readReportRange(query, clock.now(), retention);
  return ok(await report(store, environment, range, query.get(filter)));
}

function findEnvironment(application: Application, name: string | undefined): Environment {
  if (name === undefined) throw new Refusal('invalid_query', 'environment is missing');
  const environment = application.environments.find((each) => each.name === name);
  if (environment === undefined) {
    throw new Refusal('unknown_environment', 'The application has no such environment');
  }
  return environment;
}
