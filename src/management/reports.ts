import Type from 'typebox';
import type { Directory } from '../accounts/directory.ts';
import { text } from '../contract/shapes/fields.ts';
import { MeasurementsReport, UsageReport } from '../contract/shapes/reports.ts';
import { ok } from '../http/answer.ts';
import { type Group, jsonAnswer } from '../http/endpoint.ts';
import type { Application } from '../storage/lmdb/records.ts';
import type { Retention } from '../storage/lmdb/retention.ts';
import { endpoint } from './endpoint.ts';
import {
  EnvironmentName,
  environmentMissing,
  findEnvironment,
  unknownEnvironment,
} from './environment-name.ts';
import { written } from './exports/few-rows.ts';
import { format, orInRows, rowsWanted } from './exports/format.ts';
import { measurementColumns } from './exports/measurements.ts';
import { usageColumns } from './exports/usage.ts';
import { overPoints } from './point-budget.ts';
import { type ReportingDeps, tooManyReports } from './report-pool.ts';
import { anyLength, readReportRange, reportRange } from './report-range.ts';

export interface ReportDeps extends ReportingDeps {
  readonly retention: Retention;
}

const query = { environment: EnvironmentName, ...reportRange, ...format };

const description = `Without \`to\` the report ends now; without \`from\` it is a day long. Where data is rolled up to hours or days by now, the
range is widened to whole ones. The report has everything that was answered 202 or 200 before the request; on several machines, what others answered is in it until
\`completeThrough\`.

In rows, the earliest come first, and the range may have any number of buckets.`;

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
      counted: 'now',
      query: { ...query, feature: Type.Optional(text('Only this feature.')) },
      answers: { 200: orInRows(jsonAnswer(UsageReport, 'The report.'), usageColumns) },
      refuses,
      async handle(call, { reports, retention }: ReportDeps) {
        const { fresh, directory, application, query, request } = call;
        const environment = findEnvironment(application.environments, query.environment);
        const rows = rowsWanted(query, request);
        const range = readReportRange(query, directory.clock.now(), retention, rows && anyLength);
        const task = { environment, range, only: query.feature, fresh };
        const { teamId } = application;
        if (rows === undefined) return ok(await reports.make(teamId, 'usage', task));
        return written(rows.type, await reports.export(teamId, 'usage', task, rows.format));
      },
    }),
    endpoint('GET /applications/:id/measurements', {
      access: { within: 'application', least: 'User' },
      operationId: 'reportMeasurements',
      summary: 'Report what was measured',
      description,
      counted: 'any',
      query: { ...query, metric: Type.Optional(text('Only this metric.')) },
      answers: { 200: orInRows(jsonAnswer(MeasurementsReport, 'The report.'), measurementColumns) },
      refuses,
      async handle(call, { reports, retention }: ReportDeps) {
        const { fresh, directory, application, query, request } = call;
        const environment = findEnvironment(application.environments, query.environment);
        const rows = rowsWanted(query, request);
        const range = readReportRange(query, directory.clock.now(), retention, rows && anyLength);
        const gauges = gaugesOf(directory, application);
        const task = { environment, range, only: query.metric, gauges, fresh };
        const { teamId } = application;
        if (rows === undefined) return ok(await reports.make(teamId, 'measurements', task));
        return written(rows.type, await reports.export(teamId, 'measurements', task, rows.format));
      },
    }),
  ],
};

/** Names of an application's metrics that are declared as gauges. */
export function gaugesOf({ metricsOf }: Directory, { id }: Application): ReadonlySet<string> {
  const gauges = [...metricsOf(id).values()].filter(({ kind }) => kind === 'gauge');
  return new Set(gauges.map(({ name }) => name));
}
