import Type, { type Static } from 'typebox';
import { bodyShape, flag, shape, text } from './fields.ts';

export const kind = Type.Union([Type.Literal('counter'), Type.Literal('gauge')], {
  description: 'The numbers of a counter are added up; of a gauge the last one counts.',
});

export const Metric = shape(
  'Metric',
  {
    name: text('Its name.'),
    kind,
    unit: Type.Optional(text('What it is measured in, if the team has said so.')),
    declared: flag('Whether the team has declared it. Otherwise it was only seen, and reads as a counter.'),
  },
  { name: 'cart-value', kind: 'gauge', unit: 'EUR', declared: true },
);

export type MetricShown = Static<typeof Metric>;

/** A metric as the list shows it can be sent back. */
export const MetricDeclaration = bodyShape(
  'MetricDeclaration',
  {
    kind,
    unit: Type.Optional(Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: 64 })])),
    name: Type.Optional(text('The name in the path, if it is repeated here.')),
    declared: Type.Optional(flag('Ignored, so that a metric that was read can be sent back.')),
  },
  { kind: 'gauge', unit: 'EUR' },
);
