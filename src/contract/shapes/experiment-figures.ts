import Type, { type Static } from 'typebox';
import { count, day, getExample, interval, list, number, oneOf, orNull, shape, text } from './fields.ts';

const Difference = Type.Object({
  estimate: number('Difference between the value per check of the variant and of the base.'),
  interval: interval('Confidence interval. All intervals of a metric hold simultaneously with a probability of 95 %.'),
});

const MeasuredVariant = Type.Object({
  variant: text('Name of the variant.'),
  users: count('Distinct users who were given the variant. The estimate has an error of about 2 %.'),
  checks: count('Number of checks.'),
  value: orNull(number('Value of the metric per check; `null` if there were no checks.')),
  difference: orNull(
    Difference,
    'Difference from the base; `null` for the base itself, or if there is too little data.',
  ),
});
export type MeasuredVariant = Static<typeof MeasuredVariant>;

const GuardrailResult = Type.Object({
  metric: text('Name of the metric.'),
  state: oneOf(
    ['ok', 'worse', 'unclear'],
    '`worse`: a variant is worse by more than the tolerated amount. `ok`: no variant is worse by that much. `unclear`: the intervals are too wide to decide.',
  ),
  text: text('The state of the guardrail in a sentence.'),
  variants: list(MeasuredVariant, 'The variants, the base first.'),
});

const experimentOutcomes = ['better', 'worse', 'inconclusive', 'not_enough', 'untrustworthy', 'open'] as const;

/** The figures of an experiment, which are frozen when it ends. */
export const ExperimentFigures = shape(
  'ExperimentFigures',
  {
    at: Type.String({ format: 'date-time', description: 'Time when the response was computed.' }),
    from: orNull(day('First compared UTC day; `null` if no day is over.')),
    to: orNull(day('Last compared UTC day, inclusive.')),
    days: count('Number of compared days.'),
    method: oneOf(
      ['always_valid', 'fixed_horizon'],
      '`always_valid`: the intervals are valid on every day, however often people read them. `fixed_horizon`: the intervals are valid only at the planned end.',
    ),
    outcome: oneOf(
      experimentOutcomes,
      '`open` until the experiment has finished. `untrustworthy`: users are not split as intended, so the groups cannot be compared.',
    ),
    text: text('The outcome of the experiment in a sentence.'),
    metric: text('Primary metric.'),
    base: text('Variant that the others are compared with.'),
    variants: list(MeasuredVariant, 'The variants, the base first.'),
    guardrails: list(GuardrailResult, 'The guardrail metrics.'),
    split: oneOf(
      ['ok', 'off', 'unknown'],
      'Comparison of the actual split of users with the intended split. The state `off` makes the result untrustworthy.',
    ),
    detectable: orNull(
      number('Smallest difference per check that the experiment will detect at its end with a probability of 80 %.'),
    ),
  },
  {
    at: '2026-02-16T00:15:00.000Z',
    from: '2026-02-02',
    to: '2026-02-15',
    days: 14,
    method: 'fixed_horizon',
    outcome: 'better',
    text: 'Better by 4.0 points with on (3.1 to 4.9), 14 days: ship',
    metric: 'used',
    base: 'off',
    variants: [
      { variant: 'off', users: 4990, checks: 61_000, value: 0.2, difference: null },
      {
        variant: 'on',
        users: 5010,
        checks: 61_400,
        value: 0.24,
        difference: { estimate: 0.04, interval: [0.031, 0.049] },
      },
    ],
    guardrails: [],
    split: 'ok',
    detectable: 0.012,
  },
);
export type ExperimentFigures = Static<typeof ExperimentFigures>;
export const exampleFigures = getExample(ExperimentFigures);
