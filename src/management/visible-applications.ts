import type { Accounts } from '../accounts/accounts.ts';
import type { Application } from '../storage/lmdb/records.ts';
import { type Caller, reaches } from './caller.ts';

/** The applications that a caller may see. */
export function visibleTo(caller: Caller, { applications }: Pick<Accounts, 'applications'>): Application[] {
  const { teams } = caller;
  return [...applications.values()].filter(({ id, teamId }) => teams.includes(teamId) && reaches(caller, id));
}

/** The applications of each team. Reports of teams take turns. */
export function byTeam(applications: readonly Application[]): ReadonlyMap<string, readonly Application[]> {
  const teams = new Map<string, Application[]>();
  for (const application of applications) {
    const own = teams.get(application.teamId) ?? [];
    teams.set(application.teamId, own);
    own.push(application);
  }
  return teams;
}
