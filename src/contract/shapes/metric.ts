import Type, { type Static } from 'typebox';
import { bodyShape, boolean, shape, text } from './fields.ts';
import { createFields, option } from './option.ts';

export const kind = Type.Union([Type.Literal('counter'), Type.Literal('gauge')], {
  description: 'The values of a counter are added up. For a gauge, the last value counts.',
});

export const Metric = shape(
  'Metric',
  {
    name: text('Name of the metric.'),
    kind,
    unit: Type.Optional(text('Unit, if declared.')),
    declared: boolean(
      'True if the team has declared the metric. An undeclared metric was seen in reports, and is treated as a counter.',
    ),
  },
  { name: 'cart-value', kind: 'gauge', unit: 'EUR', declared: true },
);
export type Metric = Static<typeof Metric>;

/** Body of a change. A metric is also accepted in the form in which the list returns it. */
export const MetricDeclaration = bodyShape(
  'MetricDeclaration',
  {
    kind,
    unit: Type.Optional(Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: 64 })])),
    name: Type.Optional(text('Name of the metric. If present, the name must equal the name in the path.')),
    declared: Type.Optional(boolean('Ignored.')),
  },
  { kind: 'gauge', unit: 'EUR' },
);

const kindOption = option('kind KIND', 'counter: values are added up; gauge: the last value counts');
const unitOption = option('unit UNIT', 'Unit of the values');

export const metricOptions = {
  create: createFields(MetricDeclaration, {
    kind: { ...kindOption, more: 'default: counter', default: 'counter' },
    unit: unitOption,
    name: null,
    declared: null,
  }),
  update: createFields(Type.Partial(MetricDeclaration), {
    kind: kindOption,
    unit: unitOption,
    name: null,
    declared: null,
  }),
};
