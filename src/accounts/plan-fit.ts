import { ApiError } from '../contract/errors.ts';
import type { Plan, PlanLimit } from '../contract/plans.ts';
import type { Accounts } from './accounts.ts';
import { apiKeysOf } from './api-keys.ts';
import { applicationsOf } from './applications.ts';
import { clientsOf } from './clients.ts';
import { membersOf } from './members.ts';
import { excess } from './plans.ts';
import { teamsFrom } from './team-origins.ts';
import { webhooksOf } from './team-webhooks.ts';

/** Maximum number of exceeded limits that the error lists. */
const maxNamed = 10;

/**
 * Checks that what a team has is within the limits of a plan.
 * @throws {ApiError} `conflict`, which lists the exceeded limits
 */
export function checkFits(accounts: Accounts, teamId: string, plan: Plan): void {
  const tooMany: string[] = [];
  for (const { what, count, of } of countsOf(accounts, teamId)) {
    const words = excess(plan, what, count);
    if (words !== undefined) tooMany.push(of === undefined ? words : `${words} (${JSON.stringify(of)})`);
  }
  if (tooMany.length === 0) return;
  const rest = tooMany.length > maxNamed ? ['and more'] : [];
  const list = [...tooMany.slice(0, maxNamed), ...rest].join('; ');
  throw new ApiError('conflict', `The team exceeds the limits of the plan ${plan}: ${list}`);
}

export interface Count {
  readonly what: PlanLimit;
  readonly count: number;
  /** Name of the application that they belong to. */
  readonly of?: string;
}

/** How many a team has of each thing that a plan limits. */
export function* countsOf(accounts: Accounts, teamId: string): Generator<Count> {
  const applications = applicationsOf(accounts, teamId);
  yield { what: 'applications', count: applications.length };
  yield { what: 'apiKeys', count: apiKeysOf(accounts, teamId).length };
  yield { what: 'clients', count: clientsOf(accounts, teamId).length };
  yield { what: 'webhooks', count: webhooksOf(accounts, teamId).length };
  yield { what: 'teams', count: teamsFrom(accounts, teamId).length };
  yield { what: 'members', count: membersOf(accounts, teamId).length };
  for (const { id, name, environments } of applications) {
    yield { what: 'environments', count: environments.length, of: name };
    yield { what: 'keys', count: accounts.keysOf(id).length, of: name };
    yield { what: 'features', count: accounts.featuresOf(id).size, of: name };
    yield { what: 'metrics', count: accounts.metricsOf(id).size, of: name };
  }
}
