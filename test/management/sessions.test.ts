import { expect, test } from 'vitest';
import { beginConsoleSession } from '../../src/auth/console-session.ts';
import { startSession } from '../../src/auth/oauth/sessions.ts';
import { issueAccessToken } from '../../src/auth/oauth/tokens.ts';
import { exampleTime } from '../../src/contract/shapes/fields.ts';
import { refusal } from '../auth/fixture.ts';
import { openUsersFixture, type SignedInUser, type UsersFixture } from './people.ts';

const scope = 'openid flagmeter';
const hourMs = 3_600_000;

async function begin(
  { accountStore, settings, clock }: UsersFixture,
  { user }: SignedInUser,
  signIn: string,
  clientId = 'flagmeter-cli',
): Promise<string> {
  const granted = { userId: user.id, clientId, signIn, scope, authTime: Math.floor(clock.now() / 1000) };
  const start = clientId === 'flagmeter-console' ? beginConsoleSession : startSession;
  return (await accountStore.change((tx) => start(settings, tx, granted))).key;
}

/** Lists the sign-ins of a person, each with the clients of its sessions. */
async function listed({ as, freshToken }: UsersFixture, who: SignedInUser, of: SignedInUser): Promise<object[]> {
  const caller = { ...who, ...(await freshToken(who)) };
  const { status, json } = await as(caller, 'GET', `/users/${of.user.id}/sessions`);
  expect(status).toBe(200);
  return json.items.map((item: { signIn: string; sessions: { clientName: string }[] }) => [
    item.signIn,
    ...item.sessions.map(({ clientName }) => clientName),
  ]);
}

test('sessions are grouped by sign-in, and the most recently used sign-in comes first', async () => {
  const fixture = await openUsersFixture();
  const { eve, ada, clock } = fixture;
  await begin(fixture, eve, 'laptop');
  clock.advance(hourMs);
  await begin(fixture, eve, 'phone', 'flagmeter-console');
  clock.advance(hourMs);
  await begin(fixture, eve, 'laptop', 'flagmeter-console');
  await begin(fixture, ada, 'desk');
  const wanted = [
    ['laptop', 'flagmeter console', 'flagmeter command line'],
    ['phone', 'flagmeter console'],
  ];
  expect(await listed(fixture, eve, eve)).toEqual(wanted);
  expect(await listed(fixture, ada, eve)).toEqual(wanted);
});

test('a session is listed with its start, last use and end, and the sign-in of the caller is marked as current', async () => {
  const fixture = await openUsersFixture();
  const { eve, settings, clock, callWith } = fixture;
  const started = clock.now();
  const id = await begin(fixture, eve, 'laptop');
  clock.advance(hourMs);
  await begin(fixture, eve, 'phone');
  const { id: sub, role, teams, primaryTeam } = eve.user;
  const subject = { sub, client_id: 'flagmeter-cli', scope, role, team: [...teams], primaryTeam, sid: id };
  const token = await issueAccessToken(settings, subject);
  const { json } = await callWith(`Bearer ${token}`, 'GET', `/users/${sub}/sessions`);
  const text = (at: number) => new Date(at).toISOString().replace(/\d{3}Z/, '000Z');
  expect(json.items.map((item: { current: boolean }) => item.current)).toEqual([false, true]);
  expect(json.items[1]).toEqual({
    signIn: 'laptop',
    current: true,
    startedAt: text(started),
    factors: ['password'],
    provider: null,
    device: '',
    userAgent: '',
    lastUsedAt: text(started),
    sessions: [
      {
        id,
        clientId: 'flagmeter-cli',
        clientName: 'flagmeter command line',
        createdAt: text(started),
        lastUsedAt: text(started),
        expiresAt: text(started + 30 * 24 * hourMs),
      },
    ],
  });
  expect(text(Date.parse(exampleTime))).toBe(exampleTime);
});

test('a console session expires earlier than a session of another client', async () => {
  const fixture = await openUsersFixture();
  await begin(fixture, fixture.eve, 'laptop', 'flagmeter-console');
  await begin(fixture, fixture.eve, 'laptop');
  fixture.clock.advance(12 * hourMs - 1);
  expect(await listed(fixture, fixture.eve, fixture.eve)).toHaveLength(1);
  fixture.clock.advance(1);
  const left = [['laptop', 'flagmeter command line']];
  expect(await listed(fixture, fixture.eve, fixture.eve)).toEqual(left);
});

test('an Admin does not see the sessions that a user has with a client of another team', async () => {
  const fixture = await openUsersFixture();
  const { bob, ada, directory, otherTeamId, clock } = fixture;
  const client = {
    clientId: 'signin_1',
    number: 1,
    teamId: otherTeamId,
    name: 'Theirs',
    redirectUris: [],
    secretHash: null,
    createdAt: clock.now(),
  };
  await directory.change((tx) => tx.put('clients', client.clientId, client));
  await begin(fixture, bob, 'laptop', client.clientId);
  expect(await listed(fixture, bob, bob)).toEqual([['laptop', 'Theirs']]);
  expect(await listed(fixture, ada, bob)).toEqual([]);
});

test('ending a sign-in ends only its own sessions, with an entry in the audit log', async () => {
  const fixture = await openUsersFixture();
  const { as, ada, eve, accountStore } = fixture;
  const laptop = [await begin(fixture, eve, 'laptop'), await begin(fixture, eve, 'laptop', 'flagmeter-console')];
  const phone = await begin(fixture, eve, 'phone');
  const path = `/users/${eve.user.id}/sessions/laptop`;
  expect(await as(ada, 'DELETE', path)).toMatchObject({ status: 204 });
  expect(laptop.map((key) => accountStore.has('sessions', key))).toEqual([false, false]);
  expect(accountStore.has('sessions', phone)).toBe(true);
  expect(await as(ada, 'DELETE', path)).toMatchObject({ status: 404, json: { detail: 'There is no such sign-in' } });
  const { items } = (await as(ada, 'GET', '/audit?limit=1')).json;
  expect(items[0]).toMatchObject({ action: 'session.ended', actor: { id: ada.user.id }, target: { id: eve.user.id } });
});

test('a sign-in cannot be ended in the path of another user', async () => {
  const fixture = await openUsersFixture();
  const { as, ada, eve, accountStore } = fixture;
  const session = await begin(fixture, ada, 'desk');
  const remove = (who: SignedInUser, of: SignedInUser) => as(who, 'DELETE', `/users/${of.user.id}/sessions/desk`);
  expect(await remove(eve, eve)).toMatchObject({ status: 404 });
  expect(await remove(eve, ada)).toMatchObject({ status: 403 });
  expect(await remove(fixture.tom, ada)).toMatchObject(refusal(403, 'not_in_team'));
  expect(accountStore.has('sessions', session)).toBe(true);
});
