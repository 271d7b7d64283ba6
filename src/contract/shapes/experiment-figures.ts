import Type, { type Static } from 'typebox';
import { count, day, getExample, interval, list, number, oneOf, orNull, shape, text } from './fields.ts';

const Difference = Type.Object({
  estimate: number('Difference of the value per check from the value of the base.'),
  interval: interval('Confidence interval. All intervals of a metric hold simultaneously with a probability of 95 %.'),
});

const MeasuredVariant = Type.Object({
  variant: text('Name of the variant.'),
  users: count('Distinct users who were given the variant, within 2 %.'),
  checks: count('Number of checks.'),
  value: orNull(number('Value of the metric per check; `null` without checks.')),
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
    '`worse`: a variant is worse by more than the tolerated amount. `ok`: no variant is. `unclear`: the intervals are too wide to decide.',
  ),
  text: text('The state in a sentence.'),
  variants: list(MeasuredVariant, 'The variants, the base first.'),
});

const experimentOutcomes = ['better', 'worse', 'inconclusive', 'not_enough', 'untrustworthy', 'open'] as const;

/** The figures of an experiment, which are frozen when it ends. */
export const ExperimentFigures = shape(
  'ExperimentFigures',
  {
    at: Type.String({ format: 'date-time', description: 'Time of computation.' }),
    from: orNull(day('First compared UTC day; `null` if no day is over.')),
    to: orNull(day('Last compared UTC day, inclusive.')),
    days: count('Number of compared days.'),
    method: oneOf(
      ['always_valid', 'fixed_horizon'],
      '`always_valid`: the intervals are valid on every day, however often they are read. `fixed_horizon`: they are valid at the planned end.',
    ),
    outcome: oneOf(
      experimentOutcomes,
      '`open` until the experiment has finished. `untrustworthy`: users are not split as intended, so the groups cannot be compared.',
    ),
    text: text('The outcome in a sentence.'),
    metric: text('Primary metric.'),
    base: text('Variant that the others are compared with.'),
    variants: list(MeasuredVariant, 'The variants, the base first.'),
    guardrails: list(GuardrailResult, 'The guardrail metrics.'),
    split: oneOf(
      ['ok', 'off', 'unknown'],
      'Actual split of users compared with the intended split; `off` makes the result untrustworthy.',
    ),
    detectable: orNull(
      number('Smallest difference per check that will be found at the end with a probability of 80 %.'),
    ),
  },
  {
    at: '2026-02-16T00:15:00.000Z',
    from: '2026-02-02',
    to: '2026-02-15',
    days: 14,
    method: 'fixed_horizon',
    outcome: 'better',
    text: 'Better with on: 4.0 percentage points more checks led to a use than with off (3.1 to 4.9).',
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
