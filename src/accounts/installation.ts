import type { Role, Team } from '../storage/lmdb/records.ts';
import type { Accounts } from './accounts.ts';

/** The installation is administered by the Admins of its first team: the oldest that has not been deleted. */
export function firstTeam({ teams }: Pick<Accounts, 'teams'>): Team | undefined {
  let first: Team | undefined;
  for (const team of teams.values()) if (first === undefined || team.number < first.number) first = team;
  return first;
}

/** Whether a user or API key administers the installation, and may see data that belongs to no team. */
export function isInstallationAdmin(
  accounts: Pick<Accounts, 'teams'>,
  { role, teams }: { readonly role: Role; readonly teams: readonly string[] },
): boolean {
  const first = firstTeam(accounts);
  return role === 'Admin' && first !== undefined && teams.includes(first.id);
}
