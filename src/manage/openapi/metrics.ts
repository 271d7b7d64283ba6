import { metricSchema } from '../metrics.ts';
import { done, made, one, page } from './answers.ts';
import type { Resource } from './operation.ts';
import { filter, paging } from './parameters.ts';
import { asGiven, bodyShape, fields, type Shape, text } from './shape.ts';

/** The field that says what a metric's numbers mean. */
export const kind = asGiven(metricSchema, 'kind');

const metric: Shape = {
  name: 'Metric',
  schema: fields(
    {
      name: text('Its name.'),
      ...kind,
      unit: text('What it is measured in; not there when nobody has said.'),
      declared: {
        type: 'boolean',
        description: 'Whether the team has declared it; otherwise it was only seen, and reads as a counter.',
      },
    },
    ['unit'],
  ),
  example: { name: 'cart-value', kind: 'gauge', unit: 'EUR', declared: true },
};

const metricDeclaration = bodyShape('MetricDeclaration', metricSchema, { kind: 'gauge', unit: 'EUR' });

/** `/applications/{id}/metrics` and what is below. */
export const metrics: Resource = {
  tag: 'Metrics',
  words:
    'What the metrics of an application mean. A kind that is declared late counts for what came before, too.',
  shapes: [metric, metricDeclaration],
  routes: {
    'GET /applications/:id/metrics': {
      operationId: 'listMetrics',
      summary: 'List the metrics of an application',
      query: [
        ...paging,
        filter('declared', 'Only metrics that are declared, or only those that were just seen.'),
      ],
      answers: { 200: page(metric, 'Metrics come in the order of their names.') },
      refusals: { backpressure: 'Too many reports are waiting' },
    },
    'PUT /applications/:id/metrics/:metric': {
      operationId: 'declareMetric',
      summary: 'Declare a metric, or declare it anew',
      body: metricDeclaration,
      answers: {
        200: one(metric, 'It was declared before, and is as it was sent now.'),
        201: made(metric, 'It is declared.'),
      },
      refusals: {
        invalid_name: 'Cannot take the name of a metric: __other__ stands for all that is over a limit',
        plan_limit: 'The plan free allows no more than 100 declared metrics of an application',
      },
    },
    'DELETE /applications/:id/metrics/:metric': {
      operationId: 'deleteMetric',
      summary: 'Remove what was declared of a metric',
      description: 'What was counted of it stays, and reads as a counter.',
      answers: { 204: done('It is declared no more.') },
    },
  },
};
