import Type from 'typebox';
import { reservedName } from '../accounts/declarations.ts';
import { declareMetric, deleteMetric } from '../accounts/metrics.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import { Refusal } from '../contract/errors.ts';
import { boolean } from '../contract/shapes/fields.ts';
import { Metric, MetricDeclaration } from '../contract/shapes/metric.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { namePage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { metricColumns } from '../reports/exports/make-export.ts';
import { tooManyReports } from '../reports/report-pool.ts';
import { showMetric } from '../reports/usage/measurements-report.ts';
import { endpoint, type Group } from './endpoint.ts';
import { format, orInRows, respondWithReport } from './format.ts';
import { created, done, made, page } from './responses.ts';

const declaredFilter = Type.Optional(boolean('`true`: only declared metrics; `false`: only undeclared metrics.'));

/** `/api/v2/applications/{id}/metrics`: metrics that are declared, seen in packets, or both. */
export const metrics: Group = {
  tag: 'Metrics',
  description: 'The kinds and units of the metrics of an application. A declaration also applies to earlier numbers.',
  endpoints: [
    endpoint('GET /applications/:id/metrics', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listMetrics',
      counted: 'any',
      summary: 'List the metrics of an application',
      description: 'CSV and NDJSON are not paged.',
      query: { ...paging, declared: declaredFilter, ...format },
      responses: { 200: orInRows(page(Metric, 'Metrics are sorted by name.'), metricColumns) },
      refuses: { backpressure: tooManyReports },
      handle(call, { reports }) {
        const { directory, application, query } = call;
        const declared = [...directory.getMetrics(application.id).values()];
        const environments = application.environments.map(({ number }) => number);
        const task = { environments, declared, only: query.declared, page: namePage(query) };
        return respondWithReport(call, reports, 'metrics', task);
      },
    }),
    endpoint('PUT /applications/:id/metrics/:metric', {
      access: { within: 'application', least: 'User' },
      operationId: 'declareMetric',
      summary: 'Declare a metric, or change its declaration',
      body: MetricDeclaration,
      responses: { 200: jsonResponse(Metric, 'The changed declaration.'), 201: made(Metric, 'The new declaration.') },
      refuses: { invalid_name: reservedName('a metric'), plan_limit: describeTierLimit('free', 'metrics') },
      async handle({ directory, application: { id }, params: { metric: name }, body }) {
        const { kind, unit = null, name: repeated = name } = body;
        if (repeated !== name) throw new Refusal('invalid_body', 'Field name must be the name in the path');
        let isNew = false;
        const asked = directory.under({
          check(tx) {
            isNew = !tx.getMetrics(id).has(name);
          },
        });
        const shown = showMetric(name, await declareMetric(asked, id, name, { kind, unit }));
        return isNew ? created(['applications', id, 'metrics', name], shown) : ok(shown);
      },
    }),
    endpoint('DELETE /applications/:id/metrics/:metric', {
      access: { within: 'application', least: 'User' },
      operationId: 'deleteMetric',
      summary: 'Delete the declaration of a metric',
      description: 'The numbers of the metric remain, and are reported as a counter.',
      responses: { 204: done('The metric is no longer declared.') },
      handle: ({ directory, application, params }) => deleteMetric(directory, application.id, params.metric),
    }),
  ],
};
