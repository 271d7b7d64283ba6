import type { Plan } from '../contract/plans.ts';
import type { Team } from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';
import { checkPlan } from './plans.ts';

/** The team that a new team counts against if a member of `teamId` creates it. */
export function originOf({ teams }: Pick<Accounts, 'teams'>, teamId: string): string {
  return teams.get(teamId)?.origin ?? teamId;
}

/** The teams that count against a team. */
export function teamsFrom({ teams }: Pick<Accounts, 'teams'>, origin: string): Team[] {
  return [...teams.values()].filter((team) => team.origin === origin);
}

/**
 * @param plan of the creating team, in case the origin has been deleted
 * @throws {ApiError} `plan_limit` if one more team would be too many
 */
export function checkOrigin(accounts: Pick<Accounts, 'teams'>, origin: string, plan: Plan): void {
  checkPlan(accounts.teams.get(origin)?.plan ?? plan, 'teams', teamsFrom(accounts, origin).length + 1);
}
