import { ApiError } from '../contract/errors.ts';
import { limits, type Plan, type PlanLimit } from '../contract/plans.ts';
import type { Application } from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';

/** The plan of a new team. It does not limit those who run their own service. */
export const usualPlan: Plan = 'enterprise';

export function isMore(plan: Plan, than: Plan): boolean {
  return limits.members[plan] > limits.members[than];
}

export function planOf({ teams }: Pick<Accounts, 'teams'>, { teamId }: Application): Plan {
  return teams.get(teamId)?.plan ?? usualPlan;
}

/**
 * @param count how many there would be
 * @throws {ApiError} `plan_limit` if that exceeds the limit
 */
export function checkPlan(plan: Plan, what: PlanLimit, count: number): void {
  if (count > limits[what][plan]) throw new ApiError('plan_limit', overPlan(plan, what));
}

export const overPlan = (plan: Plan, what: PlanLimit) =>
  `The plan ${plan} allows no more than ${limits[what][plan]} ${limits[what].words}`;

/** The exceeded limit, for people; `undefined` if it is not exceeded. */
export function excess(plan: Plan, what: PlanLimit, count: number): string | undefined {
  const limit = limits[what][plan];
  return count > limit ? `${count} ${limits[what].words}, where the plan allows ${limit}` : undefined;
}
