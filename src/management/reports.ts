import Type from 'typebox';
import type { Directory } from '../accounts/directory.ts';
import { Refusal } from '../contract/errors.ts';
import { boolean, text } from '../contract/shapes/fields.ts';
import { IngestReport } from '../contract/shapes/ledger.ts';
import { MeasurementsReport, UsageReport } from '../contract/shapes/reports.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { expositionType } from '../http/exposition.ts';
import { ledgerColumns } from '../reports/exports/ledger.ts';
import { measurementColumns } from '../reports/exports/measurements.ts';
import { usageColumns } from '../reports/exports/usage.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import { maxShown, startOfMonth } from '../reports/usage/month-usage.ts';
import {
  anyLength,
  emptyRange,
  overPoints,
  range,
  readReportRange,
  reportRange,
} from '../reports/usage/report-range.ts';
import type { UsageTask } from '../reports/usage/usage-report.ts';
import type { Retention } from '../storage/lmdb/blocks.ts';
import type { Application } from '../storage/lmdb/records.ts';
import { type Call, endpoint, type Group } from './endpoint.ts';
import {
  anyEnvironment,
  findEnvironment,
  findEnvironments,
  oneEnvironment,
  unknownEnvironment,
} from './environments.ts';
import { format, orInRows, respondWithReport, rowsWanted, written } from './format.ts';

const query = { ...oneEnvironment.query, ...reportRange, ...format };

const description = `Without \`to\`, the report ends now; without \`from\`, it covers a day. Where data is rolled up to hours or days, the
range is widened to whole hours or days. The report includes all messages that were accepted (202 or 200) before the request. On several
machines, it includes the messages of other nodes up to \`completeThrough\`.

In CSV and NDJSON, the earliest rows come first, and the range may have any number of buckets.`;

const refuses = { ...oneEnvironment.refuses, too_many_points: overPoints, backpressure: tooManyReports };

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
      responses: { 200: orInRows(jsonResponse(UsageReport, 'The report.'), usageColumns) },
      refuses,
      async handle(call, { reports, retention }) {
        const only = call.query.feature;
        return respondWithReport(call, reports, 'usage', { ...createTask(call, retention), only });
      },
    }),
    endpoint('GET /applications/:id/measurements', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'reportMeasurements',
      summary: 'Report measurements',
      description,
      counted: 'any',
      query: { ...query, metric: Type.Optional(text('Only this metric.')) },
      responses: { 200: orInRows(jsonResponse(MeasurementsReport, 'The report.'), measurementColumns) },
      refuses,
      async handle(call, { reports, retention }) {
        const gauges = listGauges(call.directory, call.application);
        const task = { ...createTask(call, retention), only: call.query.metric, gauges };
        return respondWithReport(call, reports, 'measurements', task);
      },
    }),
  ],
};

const zonedRows = 'CSV and NDJSON have UTC days: omit timeZone, or use the step hour';

/** @throws {Refusal} `unknown_environment`, `invalid_query` */
function createTask(call: Call<'', 'application', typeof query>, retention: Retention): Omit<UsageTask, 'only'> {
  const { fresh, directory, application, query } = call;
  const environment = findEnvironment(application.environments, query.environment);
  const length = rowsWanted(call) && anyLength;
  const range = readReportRange(query, directory.clock.now(), retention, length);
  if (rowsWanted(call) && range.zoned?.starts) throw new Refusal('invalid_query', zonedRows);
  return { environment, range, fresh };
}

/** Returns the names of an application's declared gauges. */
function listGauges({ getMetrics }: Directory, { id }: Application): ReadonlySet<string> {
  const gauges = [...getMetrics(id).values()].filter(({ kind }) => kind === 'gauge');
  return new Set(gauges.map(({ name }) => name));
}

/** Retention of hours in the ledger, which does not roll them up. */
const forever = Number.POSITIVE_INFINITY;
const notRolledUp: Retention = { minutesMs: forever, hoursMs: forever, daysMs: forever };

export const ingest: Group = {
  tag: 'Ingest',
  description: 'The ledger: packets and reports of an application, accepted and refused.',
  endpoints: [
    endpoint('GET /applications/:id/ingest', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'reportIngest',
      counted: 'any',
      summary: 'Report accepted and refused messages by sender and reason',
      description:
        'Without `to`, the report ends now; without `from`, it covers a day. A refused request appears within a second. CSV and NDJSON have separate rows for each hour.',
      query: {
        environment: Type.Optional(text('Only this environment.')),
        unnamed: Type.Optional(
          boolean('With `environment`: also list mint requests, and messages without an existing environment.'),
        ),
        versionsOf: Type.Optional(
          text('Also count the messages of this program by version. CSV and NDJSON ignore this parameter.'),
        ),
        ...range,
        ...format,
      },
      responses: { 200: orInRows(jsonResponse(IngestReport, 'The report.'), ledgerColumns) },
      refuses: { invalid_query: emptyRange, unknown_environment: unknownEnvironment },
      handle(call, { reports }) {
        const { directory, application, query } = call;
        const { number, environments, revokedKeys = [] } = application;
        const { environment: name, unnamed = false, versionsOf } = query;
        const only = name === undefined ? undefined : findEnvironment(environments, name);
        const now = directory.clock.now();
        const inHours = { ...query, step: 'hour' } as const;
        const { from, to } = readReportRange(inHours, now, notRolledUp, rowsWanted(call) && anyLength);
        const hours = { from: Math.floor(from / 60), to: Math.ceil(to / 60) };
        const keys = [...revokedKeys, ...directory.getApplicationKeys(application.id)].map(
          ({ id, name }) => [id, name] as const,
        );
        const task = { application: { number, environments }, only, unnamed, hours, versionsOf, keys };
        return respondWithReport(call, reports, 'ledger', task);
      },
    }),
  ],
};

const example = `# HELP flagmeter_feature_checks_total Checks of a variant. Reset at the start of each month (UTC).
# TYPE flagmeter_feature_checks_total counter
flagmeter_feature_checks_total{environment="Production",feature="checkout",variant="on"} 5
`;

/** `/api/v2/applications/{id}/prometheus`. */
export const prometheus: Group = {
  tag: 'Prometheus',
  description: 'Usage in the text format of Prometheus.',
  endpoints: [
    endpoint('GET /applications/:id/prometheus', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'scrapeUsage',
      counted: 'any',
      summary: 'Scrape the usage of an application',
      description: `Counters are reset at the start of each month (UTC). The response has the largest ${maxShown.features} variants and ${maxShown.metrics} metrics.
\`flagmeter_series_left_out\` is the number of omitted series.`,
      query: anyEnvironment.query,
      responses: {
        200: {
          description: 'The metrics.',
          headers: {},
          content: { [expositionType]: { schema: { type: 'string' }, example } },
        },
      },
      refuses: { ...anyEnvironment.refuses, backpressure: tooManyReports },
      async handle({ directory, application, query }, { reports, retention }) {
        const { teamId } = application;
        const environments = findEnvironments(application.environments, query.environment);
        const now = directory.clock.now();
        const range = readReportRange({ from: startOfMonth(now), step: 'day' }, now, retention);
        const task = { environments, gauges: listGauges(directory, application), range };
        return written(expositionType, await reports.make(teamId, 'prometheus', task));
      },
    }),
  ],
};
