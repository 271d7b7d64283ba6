import Type, { type Static, type TSchema } from 'typebox';
import { boolean, count, day, interval, list, number, oneOf, orNull, shape, text } from './fields.ts';

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const probability = share;

const byVariant = (values: TSchema, description: string) =>
  Type.Unsafe<Readonly<Record<string, number>>>({ type: 'object', additionalProperties: values, description });

const Difference = Type.Object({
  estimate: number('Mean of the daily differences between the rate of the variant and the rate of the base.'),
  interval: interval('Confidence interval of the difference. All intervals hold simultaneously with 95 % confidence.'),
  days: count('Number of compared days. The difference covers all of them.'),
  p: probability('p-value: the probability of a difference this large if there is no true difference.'),
  pAdjusted: probability('p-value adjusted for the number of variants (Holm).'),
});

const ComparedVariant = Type.Object({
  variant: text('Name of the variant.'),
  users: count('Distinct users who were given the variant in this period. The estimate has an error of about 2 %.'),
  checks: count('Number of checks.'),
  events: count('Number of checks that led to the event.'),
  rate: orNull(number('Events per check; `null` if there were no checks.')),
  interval: orNull(
    interval(
      'Confidence interval of the rate. All intervals hold simultaneously with 95 % confidence. `null` if there is too little data.',
    ),
  ),
  difference: orNull(
    Difference,
    'Difference from the base; `null` for the base itself, or if there is too little data.',
  ),
});
export type ComparedVariant = Static<typeof ComparedVariant>;

const SampleRatio = Type.Object({
  expected: byVariant(share('A share.'), 'Expected share of users by variant.'),
  observed: byVariant(share('A share.'), 'Observed share of users by variant.'),
  p: probability('p-value: the probability of a deviation this large if users are split as declared.'),
  mismatch: boolean(
    'True if the p-value is below 0.001 and the deviation is at least one percentage point, which indicates a faulty split.',
  ),
});

const SeveralVariants = Type.Object({
  share: share('Share of users who were given more than one variant. The error is at most about 4 percentage points.'),
  warn: boolean('True if the share is too high to treat the variants as separate groups.'),
});

export const Comparison = shape(
  'Comparison',
  {
    environment: text('Name of the environment.'),
    feature: text('Name of the feature.'),
    from: orNull(day('First compared UTC day; `null` if no day of the range is over.')),
    to: orNull(day('Last compared UTC day, inclusive.')),
    days: count('Number of compared days. All figures cover the days on which every comparable variant was given.'),
    event: oneOf(['used', 'viewed'], 'Event that a check can lead to.'),
    base: orNull(text('Variant that the others are compared with; `null` if no variant was given.')),
    variants: list(ComparedVariant, 'Variants that were given, by number of users.'),
    outcome: oneOf(
      ['difference', 'no_clear_difference', 'not_enough'],
      '`difference`: at least one variant differs significantly from the base. `no_clear_difference`: no variant does. `not_enough`: there is too little data.',
    ),
    why: text('The outcome in a sentence. The sentence names the size of the difference, or the data that is missing.'),
    sampleRatio: orNull(
      SampleRatio,
      'Comparison of the observed split with the declared split; `null` if no split is declared, or there are too few users.',
    ),
    severalVariants: orNull(
      SeveralVariants,
      'Users who were given several variants; `null` if there are no users, or only one variant.',
    ),
  },
  {
    environment: 'Production',
    feature: 'checkout',
    from: '2026-01-05',
    to: '2026-01-18',
    days: 14,
    event: 'used',
    base: 'off',
    variants: [
      {
        variant: 'off',
        users: 5010,
        checks: 60_000,
        events: 12_000,
        rate: 0.2,
        interval: [0.183, 0.217],
        difference: null,
      },
      {
        variant: 'on',
        users: 4990,
        checks: 60_000,
        events: 15_000,
        rate: 0.25,
        interval: [0.231, 0.269],
        difference: { estimate: 0.05, interval: [0.026, 0.074], days: 14, p: 0.0006, pAdjusted: 0.0006 },
      },
    ],
    outcome: 'difference',
    why: 'With on, 25.0 % of checks led to a use, which is 5.0 percentage points more than with off (2.6 to 7.4, p = 0.001).',
    sampleRatio: { expected: { off: 0.5, on: 0.5 }, observed: { off: 0.501, on: 0.499 }, p: 0.86, mismatch: false },
    severalVariants: { share: 0.004, warn: false },
  },
);
export type Comparison = Static<typeof Comparison>;
