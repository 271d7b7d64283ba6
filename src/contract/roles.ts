/** The roles of users and API keys in a team. Each one may do what those before it may. */
export const roles = ['Viewer', 'User', 'Admin'] as const;
export type Role = (typeof roles)[number];

/** The permissions of each role in a team. The table of docs/access.md is generated from this. */
export const permissions: Readonly<Record<Role, string>> = {
  Viewer: 'reads and exports, and manages their own profile',
  User: 'also writes flags, notes and metrics',
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

/** The role of a user in a team; `undefined` for a team that they are not in. */
export function roleIn({ role, teams, teamRoles }: Membership, teamId: string): Role | undefined {
  return teams.includes(teamId) ? (teamRoles?.[teamId] ?? role) : undefined;
}
