import { randomBytes, randomUUID } from 'node:crypto';
import { putIdentity } from '../../../src/accounts/identity-providers.ts';
import { hashSecret } from '../../../src/accounts/secrets.ts';
import { EmbeddedAccountStore } from '../../../src/accounts/store/embedded.ts';
import { testHealth } from '../../accounts/fixture.ts';
import { operations } from './openapi-document.ts';
import type { DocumentedRequest } from './recipe.ts';
import { beginSession, type Lot, type World } from './world.ts';

/** A request that succeeds if an Admin of the team sends it. */
export interface Good {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly body: unknown;
  /** The team that owns the objects of the path. */
  readonly lot: Lot;
}

/** Creates the object that a path parameter refers to. `base` is the part of the path before the parameter. */
type Maker = (world: World, base: string) => Promise<string>;

const makers: Readonly<Record<string, Maker>> = {
  name: (world, base) => make(world, base, { name: 'Test' }, 'name'),
  keyId: (world, base) => make(world, base, { type: 'Mobile' }, 'id'),
  feature: (world, base) => make(world, base, { name: 'checkout' }, 'name'),
  experimentId: (world, base) => make(world, base, exampleExperiment, 'id'),
  noteId: (world, base) => make(world, base, { text: 'Rollout' }, 'id'),
  viewId: (world, base) => make(world, base, { name: 'New flags', page: 'flags', shared: true }, 'id'),
  async metric(world, base) {
    await ask(world, 'PUT', `${base}/purchases`, { kind: 'counter' });
    return 'purchases';
  },
  async repository(world, base) {
    await ask(world, 'PUT', `${base}/web`, { files: 1, features: [] });
    return 'web';
  },
  identity: async () => 'user-7',
  userId: async (world) => takeUser(world),
  signInId: (world, base) => addSignIn(world, base.split('/').at(-2)!),
  passkeyId: (world, base) => addPasskey(world, base.split('/').at(-2)!),
  async webhookId(world, base) {
    await makeRoom(world, base);
    return make(world, base, { name: 'Chat', url: 'https://hooks.invalid/', events: ['flag.stale'] }, 'id');
  },
  deliveryId: (world, base) => make(world, base.replace(/deliveries$/, 'test'), {}, 'id'),
  async providerId(world, base) {
    await makeRoom(world, base, 15);
    return make(world, base, { name: 'Corp', issuer: 'https://login.invalid', clientId: 'flagmeter' }, 'id');
  },
  identityId: (world, base) => linkIdentity(world, base.split('/').at(-2)!),
  clientId(world, base) {
    const client = { name: 'App', type: 'public', redirectUris: ['https://app.example/'] };
    return make(world, base, base.endsWith('/clients') ? client : { name: 'Program' }, 'clientId');
  },
};

const exampleExperiment = {
  feature: 'checkout',
  name: 'One page',
  environment: 'Production',
  base: 'off',
  metric: 'used',
  users: 4000,
};

/** The required query parameters of routes. */
const environment = '?environment=Production';
const queries: Readonly<Record<string, string>> = {
  'GET /applications/:id/overview': environment,
  'GET /applications/:id/overview/users': `${environment}&feature=checkout&feature=search`,
  'GET /applications/:id/usage': environment,
  'GET /applications/:id/measurements': environment,
  'GET /applications/:id/features/:feature/comparison': environment,
  'GET /applications/:id/features/:feature/split': environment,
  'GET /applications/:id/features/:feature/power': environment,
  'GET /applications/:id/identities/:identity/exposures': environment,
  'DELETE /applications/:id/identities': '?identity=user-7',
  'GET /applications/:id/origin-check': '?origin=https://shop.example',
  'GET /search': '?q=shop',
};

/** Returns the documented operation of a route of the access table, or of a whole path that begins with `/api/`. */
export function operationNamed(route: string): string {
  if (isWhole(route)) return route;
  return route
    .replace(' /', ' /api/v2/')
    .replaceAll(':self', ':id')
    .replaceAll(/:(\w+)/g, '{$1}');
}

function isWhole(route: string): boolean {
  return route.includes(' /api/');
}

/**
 * Creates an object for each parameter of a route's path, from the documented body. For example,
 * `/applications/:id/keys/:keyId` becomes a new key of a new application. A team to delete is a spare team; all other
 * teams are the home team. `:self` is not replaced.
 */
export async function goodRequest(world: World, route: string): Promise<Good> {
  const [method = '', pattern = ''] = route.split(' ');
  const lot = route === 'DELETE /teams/:id' ? world.spareLots.pop()! : world.home;
  if (isWhole(route)) return { method, path: pattern, body: undefined, lot };
  let path = '/api/v2';
  for (const segment of pattern.slice(1).split('/')) {
    path += `/${segment.startsWith(':') ? await thing(world, path, segment.slice(1), lot) : segment}`;
  }
  if (route === 'DELETE /users/:id/reset-link') await ask(world, 'POST', path, {});
  return { method, path: path + (queries[route] ?? ''), body: createBody(route), lot };
}

let users = 0;

/** Creates a body from the example of the document, with a unique e-mail address for a new user, and a unique token. */
function createBody(route: string): unknown {
  const content = operations.get(operationNamed(route))?.requestBody?.content;
  const example = content?.['application/json']?.example;
  if (route === 'POST /applications/:id/keys/adopt')
    return { ...(example as object), token: randomBytes(20).toString('hex') };
  if (route !== 'POST /users') return example;
  users += 1;
  return { ...(example as object), email: `new-${users}@example.com` };
}

async function thing(world: World, base: string, name: string, lot: Lot): Promise<string> {
  if (name === 'self') return ':self';
  if (name !== 'id') return makers[name]!(world, base);
  if (base.endsWith('/teams')) return lot.teamId;
  if (base.endsWith('/users')) return addTotp(world, takeUser(world));
  return make(world, base, { name: 'Shop', teamId: lot.teamId }, 'id');
}

/** Returns the id of a home team user that no other test needs. */
export function takeUser({ spareUsers }: World): string {
  return spareUsers.pop()!.id;
}

/** Deletes the objects of a list if there are `from` or more, because their number is limited. */
async function makeRoom({ send, asAdmin }: World, list: string, from = 40): Promise<void> {
  const response = await send(asAdmin, 'GET', `${list}?limit=200`);
  const { items } = (await response.json()) as { items: readonly { id: string }[] };
  if (items.length < from) return;
  await Promise.all(items.map(({ id }) => send(asAdmin, 'DELETE', `${list}/${id}`)));
}

/**
 * Makes room before many requests create objects at the same time. Deletes the objects of a route whose number is
 * limited.
 */
export async function makeRoomFor(world: World, route: string): Promise<void> {
  if (route.includes('/webhooks')) await makeRoom(world, `/api/v2/teams/${world.home.teamId}/webhooks`, 1);
  if (route.includes('/identity-providers')) await makeRoom(world, '/api/v2/identity-providers', 1);
}

/** Creates an object as the Admin. @returns a field of the response */
export async function make(world: World, path: string, body: object, field: string): Promise<string> {
  const made = (await ask(world, 'POST', path, body)) as Record<string, string>;
  return made[field]!;
}

/** Sends a request as the Admin. @throws {Error} unless it succeeds */
export async function ask(world: World, method: string, path: string, body: object): Promise<unknown> {
  const response = await world.send(world.asAdmin, method, path, body);
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

async function linkIdentity({ store }: World, userId: string): Promise<string> {
  const issuer = 'https://login.invalid';
  const subject = randomBytes(8).toString('hex');
  const now = Date.now();
  const id = `identity_${subject}`;
  const accountStore = new EmbeddedAccountStore(store, testHealth());
  await accountStore.change((tx) => {
    const linked = { id, number: 1, userId, issuer, subject, email: null, given: {} };
    putIdentity(tx, { ...linked, linkedAt: now, lastUsedAt: now });
  });
  return id;
}

/** Creates a user who can sign in only with an account at a provider. */
export async function ofUserWithoutPassword(world: World): Promise<Partial<DocumentedRequest>> {
  const asked = { name: 'Ada', email: `${randomUUID()}@example.com` };
  const user = (await ask(world, 'POST', '/api/v2/users', asked)) as Parameters<World['sign']>[0];
  const identity = await linkIdentity(world, user.id);
  const path = `/api/v2/users/${user.id}/identities/${identity}`;
  return { authorization: `Bearer ${await world.sign(user)}`, path };
}

async function addSignIn({ store }: World, userId: string): Promise<string> {
  const signIn = hashSecret(userId);
  await beginSession(store, userId, signIn);
  return signIn;
}

async function addTotp({ store }: World, userId: string): Promise<string> {
  const record = { userId, secret: 'A'.repeat(32), createdAt: 0, lastStep: 0, lastUsedAt: 0, recoveryCodes: [] };
  const accountStore = new EmbeddedAccountStore(store, testHealth());
  await accountStore.change((tx) => tx.put('totp', userId, record));
  return userId;
}

let passkeys = 0;

async function addPasskey({ store }: World, userId: string): Promise<string> {
  passkeys += 1;
  const id = hashSecret(String(passkeys));
  const accountStore = new EmbeddedAccountStore(store, testHealth());
  await accountStore.change((tx) =>
    tx.put('passkeys', `${userId}.${id}`, {
      userId,
      credentialId: 'AAAA',
      publicKey: 'AAAA',
      counter: 0,
      transports: [],
      aaguid: '',
      backedUp: false,
      name: 'Phone',
      createdAt: 0,
      lastUsedAt: null,
      answered: [],
    }),
  );
  return id;
}
