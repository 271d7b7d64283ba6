import { Refusal } from '../contract/errors.ts';
import { limits, type Tier, type TierLimit } from '../contract/tiers.ts';
import type { Application } from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';

/** Tier of a new team. It is the highest tier, so that self-hosted installations have the highest limits. */
export const defaultTier: Tier = 'enterprise';

export function isMore(tier: Tier, than: Tier): boolean {
  return limits.members[tier] > limits.members[than];
}

export function getTier({ teams }: Pick<Accounts, 'teams'>, { teamId }: Application): Tier {
  return teams.get(teamId)?.plan ?? defaultTier;
}

/**
 * @param count number of objects after the change
 * @throws {Refusal} `plan_limit` if the count exceeds the limit
 */
export function checkTierLimit(tier: Tier, what: TierLimit, count: number): void {
  if (count > limits[what][tier]) throw new Refusal('plan_limit', describeTierLimit(tier, what));
}

export const describeTierLimit = (tier: Tier, what: TierLimit) =>
  `The plan ${tier} allows no more than ${limits[what][tier]} ${limits[what].words}`;

/** Describes an exceeded limit, for people; `undefined` if it is not exceeded. */
export function excess(tier: Tier, what: TierLimit, count: number): string | undefined {
  const limit = limits[what][tier];
  return count > limit ? `${count} ${limits[what].words}, where the plan allows ${limit}` : undefined;
}
