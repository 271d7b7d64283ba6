import type { Role } from './roles.ts';

/** The permissions of an API key. `read`, `write` and `admin` correspond to roles. */
export const keyScopes = ['read', 'write', 'admin', 'ingest-adopt'] as const;
export type KeyScope = (typeof keyScopes)[number];

/** Permissions of each scope. Docs and help texts are generated from this object. */
export const scopePermissions: Readonly<Record<KeyScope, string>> = {
  read: 'reads and exports, like a Viewer',
  write: 'also writes flags, notes and metrics, like a User',
  admin: 'manages the team, like an Admin',
  'ingest-adopt': 'adopts tokens as application keys, and lists applications',
};

export const scopeOfRole = { Viewer: 'read', User: 'write', Admin: 'admin' } as const satisfies Record<Role, KeyScope>;

/** Returns the role of the highest scope; `undefined` if no scope has a role. */
export function findRole(scopes: readonly KeyScope[]): Role | undefined {
  if (scopes.includes('admin')) return 'Admin';
  if (scopes.includes('write')) return 'User';
  return scopes.includes('read') ? 'Viewer' : undefined;
}
