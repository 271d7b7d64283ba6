import Type, { type Static, type TSchema } from 'typebox';
import { count, flag, listOf, number, oneOf, orNull, shape, text } from './fields.ts';

/** The shape of the comparison of a feature's variants. */

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const probability = share;
const day = (description: string) => Type.String({ format: 'date', description });

/** Two numbers, the lower first. */
const interval = (description: string) =>
  Type.Unsafe<[low: number, high: number]>({
    ...Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }),
    description,
  });

const byVariant = (values: TSchema, description: string) =>
  Type.Unsafe<Readonly<Record<string, number>>>({
    type: 'object',
    additionalProperties: values,
    description,
  });

const Difference = Type.Object({
  estimate: number('How much higher the rate is than that of the base, day by day.'),
  interval: interval('What the difference may be; all intervals hold together with a probability of 95 %.'),
  days: count('The whole UTC days on which both were given: the difference is of these.'),
  p: probability('How probable a difference as large is, if there is none.'),
  pAdjusted: probability('The same, corrected for the number of variants (Holm).'),
});

const ComparedVariant = Type.Object({
  variant: text('Name of the variant.'),
  users: count('Users who were given it on these days, each once, within 2 %.'),
  checks: count('How often it was asked for.'),
  events: count('How often that led to the event.'),
  rate: orNull(number('Events a check; `null` without checks.')),
  interval: orNull(
    interval(
      'What the rate may be; all of these hold together with a probability of 95 %. `null` if there is too little to say.',
    ),
  ),
  difference: orNull(
    Type.Object(Difference.properties, {
      description: 'Against the base; `null` for the base itself, and if there is too little to say.',
    }),
  ),
});

const SampleRatio = Type.Object({
  expected: byVariant(share('A share.'), 'The share of users that each variant should have.'),
  observed: byVariant(share('A share.'), 'The share of users that each variant has.'),
  p: probability('How probable it is that users are spread as unevenly, if they are split as intended.'),
  mismatch: flag('Whether that is so improbable (below 0.001) that something must be wrong with the split.'),
});

const SeveralVariants = Type.Object({
  share: share('The share of users who were given more than one variant, within 4 percentage points.'),
  warn: flag('Whether they are so many that the comparison is not of separate people any more.'),
});

export const Comparison = shape(
  'Comparison',
  {
    environment: text('Name of the environment.'),
    feature: text('Name of the feature.'),
    from: orNull(day('The first whole UTC day; `null` if no day of the range is over.')),
    to: orNull(day('The last whole UTC day, included.')),
    days: count('How many days these are.'),
    event: oneOf(['used', 'viewed'], 'What a check may lead to.'),
    base: orNull(text('The variant that the others are compared with; `null` if none was given.')),
    variants: listOf(ComparedVariant, 'The variants that were given, by users.'),
    outcome: oneOf(
      ['difference', 'no_clear_difference', 'not_enough'],
      '`difference`: at least one variant is clearly different from the base. `no_clear_difference`: none is. `not_enough`: there is too little to say.',
    ),
    why: text('The outcome in a sentence, with the size of the difference or what is missing.'),
    sampleRatio: orNull(
      Type.Object(SampleRatio.properties, {
        description: 'The check of the split; `null` if none is declared, or there are too few users.',
      }),
    ),
    severalVariants: orNull(
      Type.Object(SeveralVariants.properties, {
        description: 'Users who were given several variants; `null` without users, or with one variant only.',
      }),
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
    why: 'With on, 25.0 % of checks led to a use, which is 5.0 percentage points more than with off (2.6 to 7.4, p = 0.001), over 14 days.',
    sampleRatio: {
      expected: { off: 0.5, on: 0.5 },
      observed: { off: 0.501, on: 0.499 },
      p: 0.86,
      mismatch: false,
    },
    severalVariants: { share: 0.004, warn: false },
  },
);

export type ComparisonShown = Static<typeof Comparison>;
export type ComparedVariantShown = ComparisonShown['variants'][number];
