import type { Static } from 'typebox';
import type { Comparison } from '../../contract/shapes/comparison.ts';
import type { OverviewUsersShown } from '../../contract/shapes/overview.ts';
import type { Columns } from './row-writer.ts';

/** The columns of reports that are few rows, which are written at once. */

const time = '2026-01-31T12:00:00.000Z';

export const senderColumns = {
  environment: { description: 'Name of the environment in which it asked.', example: 'Production' },
  name: { description: 'The browser, the app, or what a server calls itself.', example: 'Chrome' },
  version: { description: 'Its version.', example: '131' },
  transport: { description: 'How it sends.', example: 'http' },
  route: { description: 'What it sends.', example: 'telemetry' },
  firstAt: { description: 'When it first asked.', example: time },
  lastAt: { description: 'When it last asked.', example: time },
} satisfies Columns;

export const exposureColumns = {
  feature: { description: 'Name of the feature.', example: 'checkout' },
  variant: { description: 'Name of the variant.', example: 'on' },
  firstSeenAt: { description: 'When the identity first had it.', example: time },
  lastSeenAt: { description: 'When the identity last had it.', example: time },
  checks: { description: 'How often it was asked for.', example: 3 },
  used: { description: 'How often it was used.', example: 2 },
  viewed: { description: 'How often it was seen.', example: 1 },
} satisfies Columns;

export const userColumns = {
  from: { description: 'The first day that is covered (UTC).', example: '2026-01-25' },
  to: { description: 'The last day that is covered (UTC), included.', example: '2026-01-26' },
  feature: { description: 'Name of the feature.', example: 'checkout' },
  users: { description: 'Its users in these days, each once, within 2 %.', example: 2 },
} satisfies Columns;

/** The rows of a count of users. */
export function usersIn({ from, to, features }: OverviewUsersShown): readonly object[] {
  return features.map((feature) => ({ from, to, ...feature }));
}

export const comparisonColumns = {
  environment: { description: 'Name of the environment.', example: 'Production' },
  feature: { description: 'Name of the feature.', example: 'checkout' },
  from: { description: 'The first whole UTC day.', example: '2026-01-05' },
  to: { description: 'The last whole UTC day, included.', example: '2026-01-18' },
  event: { description: 'What a check may lead to: `used` or `viewed`.', example: 'used' },
  base: { description: 'The variant that the others are compared with.', example: 'off' },
  variant: { description: 'Name of the variant.', example: 'on' },
  users: { description: 'Users who were given it, within 2 %.', example: 4990 },
  checks: { description: 'How often it was asked for.', example: 60_000 },
  events: { description: 'How often that led to the event.', example: 15_000 },
  rate: { description: 'Events a check.', example: 0.25 },
  rateLow: { description: 'The low end of its interval.', example: 0.231 },
  rateHigh: { description: 'The high end of its interval.', example: 0.269 },
  difference: { description: 'How much higher the rate is than that of the base.', example: 0.05 },
  differenceLow: { description: 'The low end of its interval.', example: 0.026 },
  differenceHigh: { description: 'The high end of its interval.', example: 0.074 },
  pAdjusted: {
    description:
      'How probable a difference as large is, if there is none, corrected for the number of variants.',
    example: 0.0006,
  },
  outcome: {
    description: 'Of the whole comparison: `difference`, `no_clear_difference` or `not_enough`.',
    example: 'difference',
  },
} satisfies Columns;

/** The rows of a comparison: one for each variant. */
export function comparedIn({ variants, ...whole }: Static<typeof Comparison>): readonly object[] {
  const { environment, feature, from, to, event, base, outcome } = whole;
  return variants.map(({ interval, difference, ...variant }) => ({
    ...{ environment, feature, from, to, event, base, outcome },
    ...variant,
    ...lowHigh('rate', interval),
    ...lowHigh('difference', difference?.interval ?? null),
    difference: difference?.estimate ?? null,
    pAdjusted: difference?.pAdjusted ?? null,
  }));
}

function lowHigh(name: string, interval: readonly [low: number, high: number] | null) {
  return { [`${name}Low`]: interval?.[0] ?? null, [`${name}High`]: interval?.[1] ?? null };
}
