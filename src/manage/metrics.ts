import Type from 'typebox';
import { declareMetric, deleteMetric } from '../accounts/metrics.ts';
import { ApiError } from '../errors.ts';
import { parseQuery } from '../http/query.ts';
import type { Reply, Route } from '../http/types.ts';
import { created, deleted, ok, okJson } from './answers.ts';
import type { ManageDeps } from './caller.ts';
import { checked } from './checked.ts';
import { jsonBody } from './json-body.ts';
import { readFilter, readNamePage } from './lists.ts';
import { metricJson } from './metrics-report.ts';
import type { ReportPool } from './report-pool.ts';
import { type ApplicationCall, route } from './route.ts';

/** What the routes of metrics need of the rest of the service. */
export interface MetricDeps extends ManageDeps {
  readonly reports: ReportPool;
}

/** The body of `PUT /applications/{id}/metrics/{metric}`: a metric as the list shows it, or only what there is to say. */
export const metricSchema = Type.Object(
  {
    kind: Type.Union([Type.Literal('counter'), Type.Literal('gauge')], {
      description: 'The numbers of a counter are summed; of a gauge the last one stays.',
    }),
    unit: Type.Optional(Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: 64 })])),
    name: Type.Optional(Type.String({ description: 'The name in the path, if it is said again.' })),
    declared: Type.Optional(
      Type.Boolean({ description: 'Of no matter: so that what was read can be sent back.' }),
    ),
  },
  { additionalProperties: false },
);

const readMetric = jsonBody(metricSchema);

/** `/api/v2/applications/{id}/metrics` and what is below: the declared metrics, and those only seen in packets. */
export function metricRoutes(parts: MetricDeps): readonly Route[] {
  return [
    route(parts, 'GET /applications/:id/metrics', async ({ directory, application, request }) => {
      const only = readFilter(parseQuery(request.query), 'declared');
      const declared = [...directory.metricsOf(application.id).values()];
      const environments = application.environments.map(({ number }) => number);
      const task = { environments, declared, only, page: readNamePage(request.query) };
      return okJson(await parts.reports.make(application.teamId, 'metrics', task));
    }),
    route(parts, 'PUT /applications/:id/metrics/:metric', declare),
    route(
      parts,
      'DELETE /applications/:id/metrics/:metric',
      async ({ directory, application, params: { metric = '' } }) => {
        await deleteMetric(directory, application.id, metric);
        return deleted;
      },
    ),
  ];
}

/** 201 when it was not declared before (RFC 9110 §9.3.4), else 200. */
async function declare({
  directory,
  application: { id },
  request,
  params: { metric: name = '' },
}: ApplicationCall): Promise<Reply> {
  const { kind, unit = null, name: said = name } = await readMetric(request);
  if (said !== name) throw new ApiError('invalid_body', 'Field name must be the name in the path');
  let isNew = false;
  const told = checked(directory, (draft) => {
    isNew = !draft.metricsOf(id).has(name);
  });
  const shown = metricJson(name, await declareMetric(told, id, name, { kind, unit }));
  return isNew ? created(['applications', id, 'metrics', name], shown) : ok(shown);
}
