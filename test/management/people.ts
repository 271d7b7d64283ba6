import { createUser } from '../../src/accounts/users.ts';
import { issueAccessToken } from '../../src/auth/oauth/tokens.ts';
import type { Role } from '../../src/contract/roles.ts';
import type { User } from '../../src/storage/lmdb/records.ts';
import { type Answer, requestOf, send } from '../auth/fixture.ts';
import { type ManageFixture, openManageFixture } from './fixture.ts';

/** A user and their access token. */
export interface Person {
  readonly user: User;
  readonly token: string;
}

export interface PeopleFixture extends Omit<ManageFixture, 'freshToken'> {
  /** The same person with another token; by default the Admin's API key. */
  freshToken(who: Person | undefined): Promise<Pick<Person, 'token'>>;
  /** An Admin of the team, an Admin of both teams, a User of the team, and an Admin of the other team. */
  readonly ada: Person;
  readonly bob: Person;
  readonly eve: Person;
  readonly tom: Person;
  /** Creates a user without a password, by default in the team. */
  person(name: string, role?: Role, teams?: readonly string[]): Promise<Person>;
  /** Sends a request as a person, by default as the Admin's API key. */
  as(who: Pick<Person, 'token'> | undefined, method: string, path: string, body?: unknown): Promise<Answer>;
  /** Sends an admitted request whose body arrives when `arrive` is called, with the person's token or these headers. */
  slowly(
    who: Person,
    method: string,
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Slow>;
  /** All items of a list, in pages of `limit`. Calls `between` after each page. */
  pages(path: string, limit: number, between?: (page: number) => Promise<unknown>): Promise<Item[]>;
}

export interface Slow {
  readonly answer: Promise<Answer>;
  arrive(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: the expectations of a test state its type
export type Item = any;

/** The fixture of the management API with people in it. @param rate as `openManageFixture` */
export async function openPeopleFixture(rate = 0): Promise<PeopleFixture> {
  const fixture = await openManageFixture(rate);
  const { directory, settings, team, otherTeamId, call, dispatch } = fixture;

  const person: PeopleFixture['person'] = async (name, role = 'User', teams = [team.id]) => {
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
    ada: await person('Ada', 'Admin'),
    bob: await person('Bob', 'Admin', [team.id, otherTeamId]),
    eve: await person('Eve'),
    tom: await person('Tom', 'Admin', [otherTeamId]),
    person,
    freshToken: async (who) => ({ token: who === undefined ? await fixture.freshToken() : await userToken(who.user) }),
    as: (who, method, path, body) => call(method, path, body, who?.token),
    async slowly(who, method, path, body, headers = { authorization: `Bearer ${who.token}` }) {
      const { promise: arrived, resolve: arrive } = gate();
      const { promise: awaited, resolve: letIn } = gate();
      const bytes = new TextEncoder().encode(JSON.stringify(body));
      const request = {
        ...requestOf(`/api/v2${path}`, { method, headers }),
        body: () => {
          letIn();
          return arrived.then(() => bytes);
        },
      };
      const answer = send(() => dispatch(request), path);
      await awaited;
      return { answer, arrive };
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
