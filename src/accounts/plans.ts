import { ApiError } from '../contract/errors.ts';
import type { Application, Plan } from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';

/** The limits of each plan, and their names in refusals. The highest limits also bound memory use. */
export const limits = {
  applications: { words: 'applications in a team', free: 3, team: 50, enterprise: 1000 },
  environments: { words: 'environments in an application', free: 5, team: 20, enterprise: 50 },
  keys: { words: 'keys of an application', free: 10, team: 50, enterprise: 100 },
  apiKeys: { words: 'API keys in a team', free: 3, team: 20, enterprise: 100 },
  clients: { words: 'sign-in clients in a team', free: 3, team: 20, enterprise: 100 },
  webhooks: { words: 'webhooks in a team', free: 2, team: 10, enterprise: 50 },
  members: { words: 'members in a team', free: 5, team: 100, enterprise: 10_000 },
  teams: { words: 'teams created by a team', free: 3, team: 20, enterprise: 100 },
  features: { words: 'declared features of an application', free: 200, team: 2000, enterprise: 10_000 },
  metrics: { words: 'declared metrics of an application', free: 100, team: 1000, enterprise: 10_000 },
} as const satisfies Record<string, Readonly<Record<Plan, number>> & { readonly words: string }>;

export type PlanLimit = keyof typeof limits;

/** The plan of a new team. It does not limit those who run their own service. */
export const usualPlan: Plan = 'enterprise';

/** Whether a plan allows more than another. */
export function isMore(plan: Plan, than: Plan): boolean {
  return limits.members[plan] > limits.members[than];
}

/** The plan that applies to an application. */
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
