import { ApiError } from '../contract/errors.ts';
import type { Plan, PlanLimit } from '../contract/plans.ts';
import type { Team } from '../storage/lmdb/records.ts';
import { type Accounts, ofTeam } from './accounts.ts';
import { isCounted } from './application-keys.ts';
import { membersOf } from './members.ts';
import { checkPlan, excess } from './plans.ts';

const maxNamed = 10;

/** @throws {ApiError} `conflict`, which lists the exceeded limits */
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

interface Count {
  readonly what: PlanLimit;
  readonly count: number;
  /** Name of the application that they belong to. */
  readonly of?: string;
}

export function* countsOf(accounts: Accounts, teamId: string): Generator<Count> {
  const applications = ofTeam(accounts.applications, teamId);
  yield { what: 'applications', count: applications.length };
  yield { what: 'apiKeys', count: ofTeam(accounts.apiKeys, teamId).length };
  yield { what: 'clients', count: ofTeam(accounts.clients, teamId).length };
  yield { what: 'webhooks', count: ofTeam(accounts.webhooks, teamId).length };
  yield { what: 'teams', count: teamsFrom(accounts, teamId).length };
  yield { what: 'members', count: membersOf(accounts, teamId).length };
  for (const { id, name, environments } of applications) {
    yield { what: 'environments', count: environments.length, of: name };
    yield { what: 'keys', count: accounts.keysOf(id).filter(isCounted).length, of: name };
    yield { what: 'features', count: accounts.featuresOf(id).size, of: name };
    yield { what: 'metrics', count: accounts.metricsOf(id).size, of: name };
  }
}

/** The team that a new team counts against if a member of `teamId` creates it. */
export function originOf({ teams }: Pick<Accounts, 'teams'>, teamId: string): string {
  return teams.get(teamId)?.origin ?? teamId;
}

function teamsFrom({ teams }: Pick<Accounts, 'teams'>, origin: string): Team[] {
  return [...teams.values()].filter((team) => team.origin === origin);
}

/**
 * @param plan of the creating team, in case the origin has been deleted
 * @throws {ApiError} `plan_limit` if one more team would be too many
 */
export function checkOrigin(accounts: Pick<Accounts, 'teams'>, origin: string, plan: Plan): void {
  checkPlan(accounts.teams.get(origin)?.plan ?? plan, 'teams', teamsFrom(accounts, origin).length + 1);
}
