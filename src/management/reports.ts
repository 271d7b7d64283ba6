import Type from 'typebox';
import type { Directory } from '../accounts/directory.ts';
import { ApiError } from '../contract/errors.ts';
import { text } from '../contract/shapes/fields.ts';
import { MeasurementsReport, UsageReport } from '../contract/shapes/reports.ts';
import { jsonAnswer } from '../http/endpoint.ts';
import { measurementColumns } from '../reports/exports/measurements.ts';
import { usageColumns } from '../reports/exports/usage.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import { anyLength, overPoints, readReportRange, reportRange } from '../reports/usage/report-range.ts';
import type { UsageTask } from '../reports/usage/usage-report.ts';
import type { Retention } from '../storage/lmdb/blocks.ts';
import type { Application } from '../storage/lmdb/records.ts';
import { type Call, endpoint, type Group } from './endpoint.ts';
import { findEnvironment, oneEnvironment } from './environments.ts';
import { answerReport, format, orInRows, rowsWanted } from './format.ts';

const query = { ...oneEnvironment.query, ...reportRange, ...format };

const description = `Without \`to\` the report ends now; without \`from\` it is a day long. Where data is rolled up to hours or days, the
range is widened to whole ones. The report has everything that was answered 202 or 200 before the request; on several machines, what others answered is in it until
\`completeThrough\`.

In CSV and NDJSON, the earliest rows come first, and the range may have any number of buckets.`;

const refuses = {
  ...oneEnvironment.refuses,
  too_many_points: overPoints,
  backpressure: tooManyReports,
};

/** `/api/v2/applications/{id}/usage` and `/api/v2/applications/{id}/measurements`. */
export const reports: Group = {
  tag: 'Reports',
  description: 'Counts of features, and measurements.',
  endpoints: [
    endpoint('GET /applications/:id/usage', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'reportUsage',
      summary: 'Report the usage of features',
      description,
      counted: 'now',
      query: { ...query, feature: Type.Optional(text('Only this feature.')) },
      answers: { 200: orInRows(jsonAnswer(UsageReport, 'The report.'), usageColumns) },
      refuses,
      async handle(call, { reports, retention }) {
        const only = call.query.feature;
        return answerReport(call, reports, 'usage', { ...taskOf(call, retention), only });
      },
    }),
    endpoint('GET /applications/:id/measurements', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'reportMeasurements',
      summary: 'Report measurements',
      description,
      counted: 'any',
      query: { ...query, metric: Type.Optional(text('Only this metric.')) },
      answers: { 200: orInRows(jsonAnswer(MeasurementsReport, 'The report.'), measurementColumns) },
      refuses,
      async handle(call, { reports, retention }) {
        const gauges = gaugesOf(call.directory, call.application);
        const task = { ...taskOf(call, retention), only: call.query.metric, gauges };
        return answerReport(call, reports, 'measurements', task);
      },
    }),
  ],
};

const zonedRows = 'CSV and NDJSON have UTC days: omit timeZone, or use the step hour';

/** @throws {ApiError} `unknown_environment`, `invalid_query` */
function taskOf(call: Call<'', 'application', typeof query>, retention: Retention): Omit<UsageTask, 'only'> {
  const { fresh, directory, application, query } = call;
  const environment = findEnvironment(application.environments, query.environment);
  const length = rowsWanted(call) && anyLength;
  const range = readReportRange(query, directory.clock.now(), retention, length);
  if (rowsWanted(call) && range.zoned?.starts) throw new ApiError('invalid_query', zonedRows);
  return { environment, range, fresh };
}

/** Names of an application's declared gauges. */
export function gaugesOf({ metricsOf }: Directory, { id }: Application): ReadonlySet<string> {
  const gauges = [...metricsOf(id).values()].filter(({ kind }) => kind === 'gauge');
  return new Set(gauges.map(({ name }) => name));
}
