import { ApiError } from '../errors.ts';
import type { Application, Plan } from '../store/records.ts';
import type { Accounts } from './accounts.ts';

/** What a plan limits, in the words of a refusal. */
const words = {
  applications: 'applications in a team',
  environments: 'environments in an application',
  keys: 'keys of an application',
  apiKeys: 'API keys in a team',
  clients: 'sign-in clients in a team',
  members: 'members in a team',
  features: 'declared features of an application',
  metrics: 'declared metrics of an application',
} as const;

export type PlanLimit = keyof typeof words;

/** How much a team may have of each kind. The greatest numbers also keep any caller from filling the memory. */
export const plans: Readonly<Record<Plan, Readonly<Record<PlanLimit, number>>>> = {
  free: {
    applications: 3,
    environments: 5,
    keys: 10,
    apiKeys: 3,
    clients: 3,
    members: 5,
    features: 200,
    metrics: 100,
  },
  team: {
    applications: 50,
    environments: 20,
    keys: 50,
    apiKeys: 20,
    clients: 20,
    members: 100,
    features: 2000,
    metrics: 1000,
  },
  enterprise: {
    applications: 1000,
    environments: 50,
    keys: 100,
    apiKeys: 100,
    clients: 100,
    members: 10_000,
    features: 10_000,
    metrics: 10_000,
  },
};

/** The plan of a new team: whoever runs the service himself is not to meet a limit unasked. */
export const usualPlan: Plan = 'enterprise';

/** Whether a plan allows more than another. */
export function isMore(plan: Plan, than: Plan): boolean {
  return plans[plan].members > plans[than].members;
}

/** The plan that an application comes under. */
export function planOf({ teams }: Pick<Accounts, 'teams'>, { teamId }: Application): Plan {
  return teams.get(teamId)?.plan ?? usualPlan;
}

/**
 * @param count how many there would be
 * @throws {ApiError} `plan_limit` when that is more than the plan allows
 */
export function checkPlan(plan: Plan, what: PlanLimit, count: number): void {
  if (count > plans[plan][what]) throw new ApiError('plan_limit', overPlan(plan, what));
}

export const overPlan = (plan: Plan, what: PlanLimit) =>
  `The plan ${plan} allows no more than ${plans[plan][what]} ${words[what]}`;

/** Says what is too many for a plan, or `undefined` when it is not. */
export function excess(plan: Plan, what: PlanLimit, count: number): string | undefined {
  const limit = plans[plan][what];
  return count > limit ? `${count} ${words[what]}, where it allows ${limit}` : undefined;
}
