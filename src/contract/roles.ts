/** The roles of users and API keys in a team. Each one may do what those before it may. */
export const roles = ['Viewer', 'User', 'Admin'] as const;
export type Role = (typeof roles)[number];

/** The permissions of each role in a team. The table of docs/access.md is generated from this. */
export const permissions: Readonly<Record<Role, string>> = {
  Viewer: 'reads and exports counts and settings, and manages their own account',
  User: 'also writes flags, notes and metrics, and reads the exposures of a person',
  Admin: 'also manages applications, keys, members, webhooks and the team, and reads the audit log',
};

/** Whether a role includes another; `undefined` is the role of those who are not in the team. */
export function isAtLeast(role: Role | undefined, least: Role): boolean {
  return role !== undefined && roles.indexOf(role) >= roles.indexOf(least);
}

/** The teams and roles of a user. */
export interface Membership {
  /** The role in teams without one of their own. */
  readonly role: Role;
  readonly teams: readonly string[];
  /** The roles of their own in some teams, by team id. Absent if there are none, or an earlier release wrote the user. */
  readonly teamRoles?: Readonly<Record<string, Role>>;
}

/** The roles of a user, by team id. @param teams some of theirs; by default all */
export function listTeamRoles(user: Membership, teams = user.teams): Record<string, Role> {
  return Object.fromEntries(teams.map((team) => [team, roleIn(user, team) ?? user.role]));
}

/** The role of a user in a team; `undefined` for a team that they are not in. */
export function roleIn({ role, teams, teamRoles }: Membership, teamId: string): Role | undefined {
  return teams.includes(teamId) ? (teamRoles?.[teamId] ?? role) : undefined;
}
