/** The roles of users and API keys in a team. Each role includes the permissions of the roles before it. */
export const roles = ['Viewer', 'User', 'Admin'] as const;
export type Role = (typeof roles)[number];

/** The permissions of each role in a team. The table of docs/access.md is generated from this object. */
export const permissions: Readonly<Record<Role, string>> = {
  Viewer: 'reads and exports counts and settings, and manages their own account',
  User: 'also writes flags, notes and metrics, and reads the exposures of a person',
  Admin: 'also manages applications, keys, members, webhooks and the team, and reads the audit log',
};

/** True if a role includes the role `least`. A user outside the team has the role `undefined`. */
export function isAtLeast(role: Role | undefined, least: Role): boolean {
  return role !== undefined && roles.indexOf(role) >= roles.indexOf(least);
}

/** The teams and roles of a user. */
export interface Membership {
  /** Role in teams that `teamRoles` does not list. */
  readonly role: Role;
  readonly teams: readonly string[];
  /** Roles in specific teams, by team id. Absent if the user has no such role, or was stored by an earlier release. */
  readonly teamRoles?: Readonly<Record<string, Role>>;
}

/** Lists the roles of a user by team id. @param teams some teams of the user; by default all */
export function listTeamRoles(user: Membership, teams = user.teams): Record<string, Role> {
  return Object.fromEntries(teams.map((team) => [team, roleIn(user, team) ?? user.role]));
}

/** Returns the role of a user in a team; `undefined` if the user is not in the team. */
export function roleIn({ role, teams, teamRoles }: Membership, teamId: string): Role | undefined {
  return teams.includes(teamId) ? (teamRoles?.[teamId] ?? role) : undefined;
}
