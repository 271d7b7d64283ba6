import type { Role } from '../store/records.ts';

/**
 * Who may call a route. `within` says what the path's `:id` must be for the caller to know of it at all, or else 404:
 * an application or a team of his teams, or a user he shares a team with. `least` is the role that it takes, or else 403;
 * with `orSelf` it takes none of a user that is the caller.
 */
export interface Access {
  readonly within: 'service' | 'application' | 'team' | 'user';
  readonly least: Role;
  readonly orSelf?: true;
}

/** Every route of the management API, below `/api/v2`. What is not here cannot be routed. */
export const access = {
  'GET /applications': { within: 'service', least: 'User' },
  'POST /applications': { within: 'service', least: 'Admin' },
  'GET /applications/:id': { within: 'application', least: 'User' },
  'PATCH /applications/:id': { within: 'application', least: 'Admin' },
  'DELETE /applications/:id': { within: 'application', least: 'Admin' },
  'GET /applications/:id/environments': { within: 'application', least: 'User' },
  'POST /applications/:id/environments': { within: 'application', least: 'Admin' },
  'DELETE /applications/:id/environments/:name': { within: 'application', least: 'Admin' },
  'GET /applications/:id/keys': { within: 'application', least: 'User' },
  'POST /applications/:id/keys': { within: 'application', least: 'Admin' },
  'DELETE /applications/:id/keys/:keyId': { within: 'application', least: 'Admin' },
  'GET /applications/:id/features': { within: 'application', least: 'User' },
  'POST /applications/:id/features': { within: 'application', least: 'User' },
  'GET /applications/:id/features/:feature': { within: 'application', least: 'User' },
  'PATCH /applications/:id/features/:feature': { within: 'application', least: 'User' },
  'DELETE /applications/:id/features/:feature': { within: 'application', least: 'User' },
  'GET /applications/:id/metrics': { within: 'application', least: 'User' },
  'PUT /applications/:id/metrics/:metric': { within: 'application', least: 'User' },
  'DELETE /applications/:id/metrics/:metric': { within: 'application', least: 'User' },
  'GET /applications/:id/usage': { within: 'application', least: 'User' },
  'GET /applications/:id/measurements': { within: 'application', least: 'User' },
  'GET /applications/:id/ingest': { within: 'application', least: 'User' },
  'GET /applications/:id/identities/:identity/exposures': { within: 'application', least: 'User' },
  'DELETE /applications/:id/identities': { within: 'application', least: 'Admin' },
  'DELETE /applications/:id/identities/:identity': { within: 'application', least: 'Admin' },
  'GET /teams': { within: 'service', least: 'User' },
  'POST /teams': { within: 'service', least: 'Admin' },
  'GET /teams/:id': { within: 'team', least: 'User' },
  'PATCH /teams/:id': { within: 'team', least: 'Admin' },
  'DELETE /teams/:id': { within: 'team', least: 'Admin' },
  'GET /teams/:id/members': { within: 'team', least: 'User' },
  'GET /teams/:id/members/:userId': { within: 'team', least: 'User' },
  'PUT /teams/:id/members/:userId': { within: 'team', least: 'Admin' },
  'DELETE /teams/:id/members/:userId': { within: 'team', least: 'Admin' },
  'GET /teams/:id/api-keys': { within: 'team', least: 'Admin' },
  'POST /teams/:id/api-keys': { within: 'team', least: 'Admin' },
  'DELETE /teams/:id/api-keys/:clientId': { within: 'team', least: 'Admin' },
  'GET /teams/:id/clients': { within: 'team', least: 'Admin' },
  'POST /teams/:id/clients': { within: 'team', least: 'Admin' },
  'DELETE /teams/:id/clients/:clientId': { within: 'team', least: 'Admin' },
  'GET /users': { within: 'service', least: 'User' },
  'POST /users': { within: 'service', least: 'Admin' },
  'GET /users/me': { within: 'service', least: 'User' },
  'GET /users/:id': { within: 'user', least: 'User' },
  'PATCH /users/:id': { within: 'user', least: 'Admin', orSelf: true },
  'DELETE /users/:id': { within: 'user', least: 'Admin' },
  'GET /deletions': { within: 'service', least: 'User' },
  'GET /audit': { within: 'service', least: 'Admin' },
} as const satisfies Readonly<Record<string, Access>>;

/** A route's name: method and path below `/api/v2`. */
export type RouteName = keyof typeof access;
