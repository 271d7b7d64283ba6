import Type from 'typebox';
import type { Directory } from '../accounts/directory.ts';
import { ok } from '../http/answer.ts';
import type { Group } from '../http/endpoint.ts';
import { jsonAnswer, text } from '../http/schema.ts';
import type { Application } from '../store/records.ts';
import type { Retention } from '../store/retention.ts';
import { endpoint } from './endpoint.ts';
import {
  EnvironmentName,
  environmentMissing,
  findEnvironment,
  unknownEnvironment,
} from './environment-name.ts';
import { overPoints } from './point-budget.ts';
import { type ReportingDeps, tooManyReports } from './report-pool.ts';
import { readReportRange, reportRange } from './report-range.ts';
import { MeasurementsReport, UsageReport } from './report-shapes.ts';

export interface ReportDeps extends ReportingDeps {
  readonly retention: Retention;
}

const query = { environment: EnvironmentName, ...reportRange };

const description = `Without \`to\` the report ends now; without \`from\` it is a day long. Where data is rolled up to hours or days by now, the
range is widened to whole ones. The report has everything that was answered 202 or 200 before the request; on several machines, what others answered is in it until
\`completeThrough\`.`;

const refuses = {
  invalid_query: environmentMissing,
  unknown_environment: unknownEnvironment,
  too_many_points: overPoints,
  backpressure: tooManyReports,
};

/** `/api/v2/applications/{id}/usage` and `/api/v2/applications/{id}/measurements`. */
export const reports: Group<ReportDeps> = {
  tag: 'Reports',
  description: 'What was counted and measured.',
  endpoints: [
    endpoint('GET /applications/:id/usage', {
      access: { within: 'application', least: 'User' },
      operationId: 'reportUsage',
      summary: 'Report how features were used',
      description,
      counted: true,
      query: { ...query, feature: Type.Optional(text('Only this feature.')) },
      answers: { 200: jsonAnswer(UsageReport, 'The report.') },
      refuses,
      async handle({ completeThrough, directory, application, query }, { reports, retention }: ReportDeps) {
        const environment = findEnvironment(application.environments, query.environment);
        const range = readReportRange(query, directory.clock.now(), retention);
        const task = { environment, range, only: query.feature, completeThrough };
        return ok(await reports.make(application.teamId, 'usage', task));
      },
    }),
    endpoint('GET /applications/:id/measurements', {
      access: { within: 'application', least: 'User' },
      operationId: 'reportMeasurements',
      summary: 'Report what was measured',
      description,
      counted: true,
      query: { ...query, metric: Type.Optional(text('Only this metric.')) },
      answers: { 200: jsonAnswer(MeasurementsReport, 'The report.') },
      refuses,
      async handle({ completeThrough, directory, application, query }, { reports, retention }: ReportDeps) {
        const environment = findEnvironment(application.environments, query.environment);
        const range = readReportRange(query, directory.clock.now(), retention);
        const gauges = gaugesOf(directory, application);
        const task = { environment, range, only: query.metric, gauges, completeThrough };
        return ok(await reports.make(application.teamId, 'measurements', task));
      },
    }),
  ],
};

function gaugesOf({ metricsOf }: Directory, { id }: Application): ReadonlySet<string> {
  const gauges = [...metricsOf(id).values()].filter(({ kind }) => kind === 'gauge');
  return new Set(gauges.map(({ name }) => name));
}
