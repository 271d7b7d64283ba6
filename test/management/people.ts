import { createUser } from '../../src/accounts/users.ts';
import { issueAccessToken } from '../../src/auth/oauth/tokens.ts';
import type { Role } from '../../src/contract/roles.ts';
import type { User } from '../../src/storage/lmdb/records.ts';
import { createRequest, type JsonResponse, send } from '../auth/fixture.ts';
import { type ManageFixture, openManageFixture } from './fixture.ts';

/** A user and their access token. */
export interface SignedInUser {
  readonly user: User;
  readonly token: string;
}

export interface UsersFixture extends Omit<ManageFixture, 'freshToken'> {
  /** Issues another token for the same person, by default for the Admin's API key. */
  freshToken(who: SignedInUser | undefined): Promise<Pick<SignedInUser, 'token'>>;
  /** An Admin of the team, an Admin of both teams, a User of the team, and an Admin of the other team. */
  readonly ada: SignedInUser;
  readonly bob: SignedInUser;
  readonly eve: SignedInUser;
  readonly tom: SignedInUser;
  /** Creates a user without a password, by default in the team. */
  addUser(name: string, role?: Role, teams?: readonly string[]): Promise<SignedInUser>;
  /** Sends a request as a person, by default as the Admin's API key. */
  as(who: Pick<SignedInUser, 'token'> | undefined, method: string, path: string, body?: unknown): Promise<JsonResponse>;
  /** Sends an admitted request with the token or the headers. Its body arrives when `arrive` is called. */
  slowly(
    who: SignedInUser,
    method: string,
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Slow>;
  /** Reads all items of a list, in pages of `limit`. Calls `between` after each page. */
  pages(path: string, limit: number, between?: (page: number) => Promise<unknown>): Promise<Item[]>;
}

export interface Slow {
  readonly response: Promise<JsonResponse>;
  arrive(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: each test expects another type
export type Item = any;

/** The fixture of the management API with users. @param rate see `openManageFixture` */
export async function openUsersFixture(rate = 0): Promise<UsersFixture> {
  const fixture = await openManageFixture(rate);
  const { directory, settings, team, otherTeamId, call, dispatch } = fixture;

  const addUser: UsersFixture['addUser'] = async (name, role = 'User', teams = [team.id]) => {
    const email = `${name.toLowerCase()}@example.com`;
    const user = await createUser(directory, { email, name, role, teams, passwordHash: 'none' });
    return { user, token: await userToken(user) };
  };

  function userToken({ id, role, teams, primaryTeam }: User): Promise<string> {
    const subject = { sub: id, client_id: clientId, scope: 'openid flagmeter', role, team: [...teams] };
    return issueAccessToken(settings, { ...subject, primaryTeam });
  }

  const clientId = 'flagmeter-console';
  return {
    ...fixture,
    ada: await addUser('Ada', 'Admin'),
    bob: await addUser('Bob', 'Admin', [team.id, otherTeamId]),
    eve: await addUser('Eve'),
    tom: await addUser('Tom', 'Admin', [otherTeamId]),
    addUser,
    freshToken: async (who) => ({ token: who === undefined ? await fixture.freshToken() : await userToken(who.user) }),
    as: (who, method, path, body) => call(method, path, body, who?.token),
    async slowly(who, method, path, body, headers = { authorization: `Bearer ${who.token}` }) {
      const { promise: arrived, resolve: arrive } = gate();
      const { promise: awaited, resolve: letIn } = gate();
      const bytes = new TextEncoder().encode(JSON.stringify(body));
      const request = {
        ...createRequest(`/api/v2${path}`, { method, headers }),
        body: () => {
          letIn();
          return arrived.then(() => bytes);
        },
      };
      const response = send(() => dispatch(request), path);
      await awaited;
      return { response, arrive };
    },
    async pages(path, limit, between = async () => {}) {
      const items: Item[] = [];
      let query = `?limit=${limit}`;
      for (let page = 0; query !== ''; page += 1) {
        const { json } = await call('GET', `${path}${query}`);
        items.push(...json.items);
        query = json.nextCursor === null ? '' : `?limit=${limit}&cursor=${json.nextCursor}`;
        await between(page);
      }
      return items;
    },
  };
}

function gate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
