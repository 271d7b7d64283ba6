import Type, { type Static } from 'typebox';
import { flag, shape, text } from '../http/schema.ts';

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
