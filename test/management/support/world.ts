import { randomBytes } from 'node:crypto';
import { createApiKey, type NewApiKey } from '../../../src/accounts/api-keys.ts';
import { type Directory, openDirectory } from '../../../src/accounts/directory.ts';
import { putMember } from '../../../src/accounts/members.ts';
import { prepareStore } from '../../../src/accounts/prepare.ts';
import { storedKeys } from '../../../src/accounts/signing-keys.ts';
import { EmbeddedAccountStore } from '../../../src/accounts/store/embedded.ts';
import { createTeam } from '../../../src/accounts/teams.ts';
import { createUser } from '../../../src/accounts/users.ts';
import { openSigningKeys } from '../../../src/auth/oauth/key-ring.ts';
import { startSession } from '../../../src/auth/oauth/sessions.ts';
import { issueAccessToken, newTokenIdentity } from '../../../src/auth/oauth/tokens.ts';
import type { Role } from '../../../src/contract/roles.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { Storage } from '../../../src/serve/storage.ts';
import { type AccountTables, openAccountTables } from '../../../src/storage/lmdb/accounts.ts';
import type { User } from '../../../src/storage/lmdb/records.ts';
import { freshDirectory, token } from '../../support/binary.ts';
import { cheapHash } from '../../support/cheap-hash.ts';
import { type LocalService, startLocal } from '../../support/service.ts';

const issuer = 'https://auth.example';
const audience = 'https://api.example';
const serviceScope = 'openid flagmeter';
/** Age of a session with a single token. Invalidating this token ends the session. */
const ofItsOwn = 1;

/** A team with an Admin and a User, and an API key of each role. All teams with members have the same members. */
export interface Lot {
  readonly teamId: string;
  readonly keys: Readonly<Record<Role, NewApiKey>>;
}

/** The initial content of the data directory. */
interface WorldContent {
  readonly admin: User;
  readonly user: User;
  readonly viewer: User;
  readonly outsider: User;
  /** An Admin of another team who is a Viewer of this team. */
  readonly guest: User;
  /** A Viewer by default who is an Admin of this team. */
  readonly lead: User;
  /** The team that most tests use. The other lots are a team without members, and teams to change and delete. */
  readonly home: Lot;
  readonly empty: Lot;
  readonly spareLots: Lot[];
  /** Users of the home team, to change and delete. */
  readonly spareUsers: User[];
}

/** A running service with people. Tests sign tokens with the service's own key. */
export interface World extends WorldContent {
  readonly service: LocalService;
  /** The tables of the service. */
  readonly store: AccountTables;
  /** The `Authorization` header of the Admin. */
  readonly asAdmin: string;
  /** Signs a token of a user, issued `ago` ms before now, of a session that began `age` seconds before now. */
  sign(user: User, ago?: number, scope?: string, age?: number): Promise<string>;
  fetchToken(key: NewApiKey): Promise<string>;
  /** Sends a request, with this `Authorization` header if defined. A body other than text or bytes is sent as JSON. */
  send(
    authorization: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
}

/** Prepares a data directory, and starts the service on it. @param args more arguments of the service */
export async function openWorld(args: readonly string[] = ['--api-rate', '0'], storage?: Storage): Promise<World> {
  const data = `${freshDirectory()}/data`;
  const store = openAccountTables(data);
  const prepared = { adminEmail: 'first@localhost', clock: systemClock, randomBytes, hash: cheapHash };
  const credentials = await prepareStore(store, prepared);
  const health = { ready: true, failed: () => {} };
  const directory = openDirectory(new EmbeddedAccountStore(store, health), prepared);
  const content = await settle(directory, credentials.teamId);
  const settings = { issuer, audience, keys: openSigningKeys(storedKeys(store)), ...prepared };
  const urls = ['--auth-url', issuer, '--base-url', audience];
  const service = await startLocal({
    data,
    credentials,
    accounts: store,
    args: [...urls, ...args],
    ...(storage && { storage }),
  });
  const sessions = new Map<string, Promise<string>>();
  const sign: World['sign'] = async (user, ago = 0, scope = serviceScope, age = 0) => {
    const { id, email, name, role, teams, primaryTeam } = user;
    const subject = { sub: id, client_id: 'flagmeter-console', scope, email, name, role, team: [...teams] };
    const then = { now: () => Date.now() - ago, monotonic: () => 0 };
    const identity = newTokenIdentity({ clock: then, randomBytes });
    const begun = `${id} ${age}`;
    const authTime = Math.floor(Date.now() / 1000) - age;
    const session = sessions.get(begun) ?? beginSession(store, id, 'signed-in', authTime);
    sessions.set(begun, session);
    return issueAccessToken(settings, { ...subject, primaryTeam, sid: await session }, identity);
  };
  return {
    ...content,
    service,
    store,
    asAdmin: `Bearer ${await sign(content.admin, 0, serviceScope, ofItsOwn)}`,
    sign,
    fetchToken: ({ apiKey: { clientId }, clientSecret }) =>
      token(service.http, { ...credentials, clientId, clientSecret }),
    send: (authorization, method, path, body, headers = {}) =>
      fetch(`http://${service.http}${path}`, {
        method,
        headers: { ...headers, ...(authorization !== undefined && { authorization }) },
        ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
      }),
  };
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array;
}

export async function beginSession(
  store: AccountTables,
  userId: string,
  signIn: string,
  authTime = Math.floor(Date.now() / 1000),
): Promise<string> {
  const granted = { userId, clientId: 'flagmeter-cli', signIn, scope: 'openid flagmeter', authTime };
  const sources = { clock: systemClock, randomBytes };
  const health = { ready: true, failed: () => {} };
  const { key } = await new EmbeddedAccountStore(store, health).change((tx) => startSession(sources, tx, granted));
  return key;
}

async function settle(directory: Directory, homeId: string): Promise<WorldContent> {
  const addUser = (name: string, role: Role, teamId: string) =>
    createUser(directory, { email: `${name}@example.com`, name, role, teams: [teamId], passwordHash: 'none' });
  const { id: otherId } = await createTeam(directory, 'Other');
  const admin = await addUser('ada', 'Admin', homeId);
  const user = await addUser('eve', 'User', homeId);
  const outsider = await addUser('tom', 'Admin', otherId);
  const viewer = await addUser('vic', 'Viewer', homeId);
  const { id: guestId } = await addUser('gus', 'Admin', homeId);
  await putMember(directory, otherId, guestId);
  const { user: guest } = await putMember(directory, homeId, guestId, 'Viewer');
  const { id: leadId } = await addUser('lea', 'Viewer', homeId);
  const { user: lead } = await putMember(directory, homeId, leadId, 'Admin');
  // The changes run concurrently, because each change waits for the disk.
  const spareUsers = await times(260, (at) => addUser(`spare-${at}`, 'User', homeId));
  const spareLots = await times(26, async (at) => {
    const { id } = await createTeam(directory, `Spare ${at}`, { listFounders: () => [admin.id] });
    for (const { id: member, role } of [user, viewer]) await putMember(directory, id, member, role);
    await putMember(directory, id, guest.id, 'Viewer');
    await putMember(directory, id, lead.id, 'Admin');
    return createLot(directory, id);
  });
  const home = await createLot(directory, homeId);
  const empty = await createLot(directory, (await createTeam(directory, 'Empty')).id);
  return { admin, user, viewer, outsider, guest, lead, home, empty, spareLots, spareUsers };
}

function times<T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => make(at)));
}

async function createLot(directory: Directory, teamId: string): Promise<Lot> {
  const addKey = (role: Role) => createApiKey(directory, { teamId, name: role, role });
  const keys = { Admin: await addKey('Admin'), User: await addKey('User'), Viewer: await addKey('Viewer') };
  return { teamId, keys };
}
