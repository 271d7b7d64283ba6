import { describe, expect, test } from 'vitest';
import type { NewApiKey } from '../../src/accounts/api-keys.ts';
import { opened } from '../support/opened.ts';
import { departures, read } from './support/conformance.ts';
import { routes } from './support/routes.ts';
import { goodRequest, makeRoomFor, operationNamed } from './support/targets.ts';
import { type Lot, openWorld } from './support/world.ts';

/**
 * Every route, with the status for each kind of caller: without a token; with a malformed, expired or invalidated
 * token, or a token without the service's scope; an Admin of another team; a User and an Admin of the team; API keys of
 * either role; a Viewer; a Viewer who is an Admin of another team (guest); and a Viewer by default who is an Admin of
 * the team (lead). `:self` is the caller; all other objects belong to the team.
 */
const matrix = `
                                                           none malf. exp. inval. scope other User Admin key:User key:Admin Viewer guest lead
GET    /applications                                       401  401   401  401    401   200   200  200   200      200      200    200   200
POST   /applications                                       401  401   401  401    401   201   403  201   403      201      403    403   201
GET    /applications/:id                                   401  401   401  401    401   403   200  200   200      200      200    200   200
PATCH  /applications/:id                                   401  401   401  401    401   403   403  200   403      200      403    403   200
DELETE /applications/:id                                   401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /applications/:id/origin-check                      401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/environments                      401  401   401  401    401   403   200  200   200      200      200    200   200
POST   /applications/:id/environments                      401  401   401  401    401   403   403  201   403      201      403    403   201
DELETE /applications/:id/environments/:name                401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /applications/:id/views                             401  401   401  401    401   403   200  200   200      200      200    200   200
POST   /applications/:id/views                             401  401   401  401    401   403   201  201   201      201      403    403   201
PATCH  /applications/:id/views/:viewId                     401  401   401  401    401   403   200  200   200      200      403    403   200
DELETE /applications/:id/views/:viewId                     401  401   401  401    401   403   204  204   204      204      403    403   204
GET    /applications/:id/keys                              401  401   401  401    401   403   200  200   200      200      200    200   200
POST   /applications/:id/keys                              401  401   401  401    401   403   403  201   403      201      403    403   201
POST   /applications/:id/keys/adopt                        401  401   401  401    401   403   403  201   403      201      403    403   201
POST   /applications/:id/keys/:keyId/rotate                401  401   401  401    401   403   403  201   403      201      403    403   201
DELETE /applications/:id/keys/:keyId                       401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /applications/:id/features                          401  401   401  401    401   403   200  200   200      200      200    200   200
POST   /applications/:id/features                          401  401   401  401    401   403   201  201   201      201      403    403   201
GET    /applications/:id/features/:feature                 401  401   401  401    401   403   200  200   200      200      200    200   200
PATCH  /applications/:id/features/:feature                 401  401   401  401    401   403   200  200   200      200      403    403   200
DELETE /applications/:id/features/:feature                 401  401   401  401    401   403   204  204   204      204      403    403   204
POST   /applications/:id/features/:feature/notes           401  401   401  401    401   403   201  201   201      201      403    403   201
DELETE /applications/:id/features/:feature/notes/:noteId   401  401   401  401    401   403   204  204   204      204      403    403   204
GET    /applications/:id/features/:feature/senders         401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/features/:feature/verdict         401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/features/:feature/split           401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/features/:feature/comparison      401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/experiments                       401  401   401  401    401   403   200  200   200      200      200    200   200
POST   /applications/:id/experiments                       401  401   401  401    401   403   201  201   201      201      403    403   201
GET    /applications/:id/experiments/:experimentId         401  401   401  401    401   403   200  200   200      200      200    200   200
PATCH  /applications/:id/experiments/:experimentId         401  401   401  401    401   403   200  200   200      200      403    403   200
DELETE /applications/:id/experiments/:experimentId         401  401   401  401    401   403   204  204   204      204      403    403   204
GET    /applications/:id/experiments/:experimentId/result  401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/features/:feature/power           401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/code-scans                        401  401   401  401    401   403   200  200   200      200      200    200   200
PUT    /applications/:id/code-scans/:repository            401  401   401  401    401   403   200  200   200      200      403    403   200
DELETE /applications/:id/code-scans/:repository            401  401   401  401    401   403   204  204   204      204      403    403   204
GET    /applications/:id/cleanup                           401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/metrics                           401  401   401  401    401   403   200  200   200      200      200    200   200
PUT    /applications/:id/metrics/:metric                   401  401   401  401    401   403   200  200   200      200      403    403   200
DELETE /applications/:id/metrics/:metric                   401  401   401  401    401   403   204  204   204      204      403    403   204
GET    /applications/:id/overview                          401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/overview/users                    401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/usage                             401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/measurements                      401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/prometheus                        401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/ingest                            401  401   401  401    401   403   200  200   200      200      200    200   200
POST   /applications/:id/imports                           401  401   401  401    401   403   403  200   403      200      403    403   200
GET    /home                                               401  401   401  401    401   200   200  200   200      200      200    200   200
GET    /search                                             401  401   401  401    401   200   200  200   200      200      200    200   200
GET    /applications/:id/health                            401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /applications/:id/identities/:identity/exposures    401  401   401  401    401   403   200  200   200      200      403    403   200
DELETE /applications/:id/identities                        401  401   401  401    401   403   403  204   403      204      403    403   204
DELETE /applications/:id/identities/:identity              401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /teams                                              401  401   401  401    401   200   200  200   200      200      200    200   200
POST   /teams                                              401  401   401  401    401   201   403  201   403      201      403    403   201
GET    /teams/:id                                          401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /teams/:id/limits                                   401  401   401  401    401   403   200  200   200      200      200    200   200
PATCH  /teams/:id                                          401  401   401  401    401   403   403  200   403      200      403    403   200
DELETE /teams/:id                                          401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /teams/:id/members                                  401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /teams/:id/members/:userId                          401  401   401  401    401   403   200  200   200      200      200    200   200
PUT    /teams/:id/members/:userId                          401  401   401  401    401   403   403  200   403      200      403    403   200
DELETE /teams/:id/members/:userId                          401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /teams/:id/api-keys                                 401  401   401  401    401   403   403  200   403      200      403    403   200
POST   /teams/:id/api-keys                                 401  401   401  401    401   403   403  201   403      201      403    403   201
PATCH  /teams/:id/api-keys/:clientId                       401  401   401  401    401   403   403  200   403      200      403    403   200
POST   /teams/:id/api-keys/:clientId/secret                401  401   401  401    401   403   403  200   403      200      403    403   200
DELETE /teams/:id/api-keys/:clientId                       401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /teams/:id/clients                                  401  401   401  401    401   403   403  200   403      200      403    403   200
POST   /teams/:id/clients                                  401  401   401  401    401   403   403  201   403      201      403    403   201
DELETE /teams/:id/clients/:clientId                        401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /teams/:id/webhooks                                 401  401   401  401    401   403   403  200   403      200      403    403   200
POST   /teams/:id/webhooks                                 401  401   401  401    401   403   403  201   403      201      403    403   201
GET    /teams/:id/webhooks/:webhookId                      401  401   401  401    401   403   403  200   403      200      403    403   200
PATCH  /teams/:id/webhooks/:webhookId                      401  401   401  401    401   403   403  200   403      200      403    403   200
DELETE /teams/:id/webhooks/:webhookId                      401  401   401  401    401   403   403  204   403      204      403    403   204
POST   /teams/:id/webhooks/:webhookId/secret               401  401   401  401    401   403   403  200   403      200      403    403   200
POST   /teams/:id/webhooks/:webhookId/test                 401  401   401  401    401   403   403  201   403      201      403    403   201
GET    /teams/:id/webhooks/:webhookId/deliveries           401  401   401  401    401   403   403  200   403      200      403    403   200
GET    /teams/:id/webhooks/:webhookId/deliveries/:deliveryId 401  401   401  401    401   403   403  200   403      200      403    403   200
POST   /teams/:id/webhooks/:webhookId/deliveries/:deliveryId/redeliver 401  401   401  401    401   403   403  200   403      200      403    403   200
GET    /users                                              401  401   401  401    401   200   200  200   200      200      200    200   200
POST   /users                                              401  401   401  401    401   201   403  201   403      201      403    403   201
GET    /users/me                                           401  401   401  401    401   200   200  200   200      200      200    200   200
GET    /users/:id                                          401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /users/:self                                        401  401   401  401    401   200   200  200   404      404      200    200   200
PATCH  /users/:id                                          401  401   401  401    401   403   403  200   403      200      403    403   200
PATCH  /users/:self                                        401  401   401  401    401   200   200  200   404      404      200    200   200
DELETE /users/:id                                          401  401   401  401    401   403   403  204   403      204      403    403   204
DELETE /users/:self                                        401  401   401  401    401   409   403  409   404      404      403    409   409
GET    /users/me/preferences                               401  401   401  401    401   200   200  200   403      403      200    200   200
PATCH  /users/me/preferences                               401  401   401  401    401   200   200  200   403      403      200    200   200
GET    /users/:id/passkeys                                 401  401   401  401    401   403   403  200   403      200      403    403   200
GET    /users/:self/passkeys                               401  401   401  401    401   200   200  200   404      404      200    200   200
PATCH  /users/:id/passkeys/:passkeyId                      401  401   401  401    401   403   403  200   403      200      403    403   200
DELETE /users/:id/passkeys/:passkeyId                      401  401   401  401    401   403   403  204   403      204      403    403   204
POST   /users/:id/reset-link                               401  401   401  401    401   403   403  200   403      200      403    403   200
POST   /users/:self/reset-link                             401  401   401  401    401   409   403  409   404      404      403    409   409
DELETE /users/:id/reset-link                               401  401   401  401    401   403   403  204   403      204      403    403   204
DELETE /users/:self/reset-link                             401  401   401  401    401   409   403  409   404      404      403    409   409
GET    /users/:id/totp                                     401  401   401  401    401   403   403  200   403      200      403    403   200
GET    /users/:self/totp                                   401  401   401  401    401   200   200  200   404      404      200    200   200
DELETE /users/:id/totp                                     401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /users/:id/sessions                                 401  401   401  401    401   403   403  200   403      200      403    403   200
GET    /users/:self/sessions                               401  401   401  401    401   200   200  200   404      404      200    200   200
DELETE /users/:id/sessions/:signInId                       401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /sign-in-policy                                     401  401   401  401    401   403   403  200   403      200      403    403   200
PATCH  /sign-in-policy                                     401  401   401  401    401   403   403  200   403      200      403    403   200
GET    /identity-providers                                 401  401   401  401    401   403   403  200   403      200      403    403   200
POST   /identity-providers                                 401  401   401  401    401   403   403  201   403      201      403    403   201
GET    /identity-providers/:providerId                     401  401   401  401    401   403   403  200   403      200      403    403   200
PATCH  /identity-providers/:providerId                     401  401   401  401    401   403   403  200   403      200      403    403   200
DELETE /identity-providers/:providerId                     401  401   401  401    401   403   403  204   403      204      403    403   204
POST   /identity-providers/:providerId/test                401  401   401  401    401   403   403  200   403      200      403    403   200
GET    /users/:id/identities                               401  401   401  401    401   403   403  200   403      200      403    403   200
GET    /users/:self/identities                             401  401   401  401    401   200   200  200   404      404      200    200   200
DELETE /users/:id/identities/:identityId                   401  401   401  401    401   403   403  204   403      204      403    403   204
GET    /deletions                                          401  401   401  401    401   200   200  200   200      200      200    200   200
GET    /applications/:id/activity                          401  401   401  401    401   403   200  200   200      200      200    200   200
GET    /audit                                              401  401   401  401    401   200   403  200   403      200      403    200   200
GET    /status                                             401  401   401  401    401   200   200  200   200      200      200    200   200
GET    /unattributed                                       401  401   401  401    401   200   403  200   403      200      403    200   200
POST   /api/account/invalidate-token                       401  400   401  401    200   200   200  200   200      200      200    200   200
`;

const world = opened(() => openWorld(['--api-rate', '0', '--trusted-proxies', 'loopback']));

interface Caller {
  /** Id of the user or API key. */
  readonly id: string;
  /** The `Authorization` header. */
  readonly header: string | undefined;
}

/** Columns of the matrix. Each column is a kind of caller, relative to the team that owns the objects of the path. */
const callers: readonly (readonly [name: string, (lot: Lot) => Promise<Caller>])[] = [
  ['a caller without a token', () => as(world.admin, undefined)],
  ['a caller with a malformed token', () => as(world.admin, 'not-a-token')],
  ['a caller with an expired token', () => as(world.admin, world.sign(world.admin, 3_600_000))],
  ['a caller with an invalidated token', () => as(world.admin, invalidated())],
  ['a caller with a token for another scope', () => as(world.admin, world.sign(world.admin, 0, 'openid email'))],
  ['an Admin of another team', () => as(world.outsider, world.sign(world.outsider))],
  ['a User', () => as(world.user, world.sign(world.user))],
  ['an Admin', () => as(world.admin, world.sign(world.admin))],
  ['an API key with the role User', ({ keys }) => asKey(keys.User)],
  ['an API key with the role Admin', ({ keys }) => asKey(keys.Admin)],
  ['a Viewer', () => as(world.viewer, world.sign(world.viewer))],
  ['a Viewer who is an Admin of another team', () => as(world.guest, world.sign(world.guest))],
  ['a Viewer by default who is an Admin of the team', () => as(world.lead, world.sign(world.lead))],
];

const columnOfOutsider = callers.findIndex(([name]) => name === 'an Admin of another team');

async function as({ id }: { id: string }, token: string | undefined | Promise<string>): Promise<Caller> {
  const sent = await token;
  return { id, header: sent && `Bearer ${sent}` };
}

function asKey(key: NewApiKey): Promise<Caller> {
  return as({ id: key.apiKey.clientId }, world.fetchToken(key));
}

async function invalidated(): Promise<string> {
  const token = await world.sign(world.admin, 0, 'openid flagmeter', 2);
  const response = await world.send(`Bearer ${token}`, 'POST', '/api/account/invalidate-token');
  expect(response.status).toBe(200);
  return token;
}

const rows = matrix
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [method = '', path = '', ...statuses] = line.split(/ +/);
    return { route: `${method} ${path}`, statuses: statuses.map(Number) };
  });

test('every route is in the matrix', () => {
  const inMatrix = rows.map(({ route }) => route).filter((route) => !route.includes(':self'));
  expect(inMatrix).toEqual([...routes, 'POST /api/account/invalidate-token']);
});

describe.each(rows.map((row, number) => ({ ...row, number })))('$route', ({ route, statuses, number }) => {
  test('the route responds to each caller with the status in the matrix', async () => {
    await makeRoomFor(world, route);
    const cells = await Promise.all(
      callers.map(async ([name, callAs], column) => {
        const good = await goodRequest(world, route);
        const { id, header } = await callAs(good.lot);
        const address = `198.18.${number}.${column}`;
        return { ...good, name, id, header, address, status: statuses[column]! };
      }),
    );
    const responses = await Promise.all(
      cells.map(async ({ header, method, path, id, body, address }) =>
        read(await world.send(header, method, path.replace(':self', id), body, { 'x-forwarded-for': address })),
      ),
    );
    const changers = await addressesInAuditLog();
    const actual = cells.map(({ name, address }, column) => {
      const { status, headers } = responses[column]!;
      const challenge = status === 401 ? headers['www-authenticate'] : undefined;
      const wrong = departures(operationNamed(route), responses[column]!);
      return { name, status, wrong, isNoted: changers.has(address), challenge };
    });
    const expected = cells.map(({ name, status, id, header }) => {
      const challenge = status === 401 ? challengeFor(header) : undefined;
      return { name, status, wrong: [], isNoted: status < 400 && isNoted(route, id), challenge };
    });
    expect(actual).toEqual(expected);
    if (!route.includes(':id')) return;
    expect(responses[columnOfOutsider]!.text).toContain('"not_in_team"');
    await checkUnknownId(route, cells[columnOfOutsider]!);
  });
});

/** Returns the client addresses of the latest audit log entries that an Admin of the team can read. */
async function addressesInAuditLog(): Promise<Set<string>> {
  const response = await world.send(world.asAdmin, 'GET', '/api/v2/audit?limit=200');
  const { items } = (await response.json()) as { items: { actor: { address: string } }[] };
  return new Set(items.map(({ actor }) => actor.address));
}

/** True if a change by the route appears in the audit log that an Admin of the team can read. */
function isNoted(route: string, id: string): boolean {
  const isElsewhere = id === world.outsider.id || (route === 'POST /teams' && id === world.lead.id);
  return !route.startsWith('GET') && !/preferences|views/.test(route) && !isElsewhere;
}

/** Checks that an Admin of another team gets 404 for an unknown id. An existing object of the team would give 403. */
async function checkUnknownId(
  route: string,
  { header, method, body }: { header: string | undefined; method: string; body: unknown },
): Promise<void> {
  const nowhere = `/api/v2${route.replace(/^\w+ /, '').replaceAll(/:\w+/g, 'none')}`;
  const none = await read(await world.send(header, method, nowhere, body));
  expect(none).toMatchObject({ status: 404, text: expect.stringContaining('"not_found"') });
}

/** RFC 6750 §3: the challenge contains an error only if the request has a token. */
function challengeFor(header: string | undefined): string {
  return header === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
}
