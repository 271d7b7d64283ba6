import { describe, expect, test } from 'vitest';
import { listMembers } from '../../src/accounts/members.ts';
import { refusal } from '../auth/fixture.ts';
import { type Item, openUsersFixture } from './people.ts';

async function open() {
  const fixture = await openUsersFixture();
  return { ...fixture, path: `/teams/${fixture.team.id}/members` };
}

const listIds = (items: readonly Item[]) => items.map(({ id }) => id);

test('a member is listed with only the teams that the member shares with the caller', async () => {
  const { as, ada, bob, eve, tom, path, team, otherTeamId } = await open();
  const { items } = (await as(eve, 'GET', path)).json;
  expect(listIds(items)).toEqual([ada.user.id, bob.user.id, eve.user.id]);
  expect(items[1]).toEqual({
    id: bob.user.id,
    email: 'bob@example.com',
    invitation: null,
    name: 'Bob',
    role: 'Admin',
    teams: [team.id],
    teamRoles: { [team.id]: 'Admin' },
    primaryTeam: team.id,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    joinedAt: expect.any(String),
    lastSignInAt: null,
    secondFactors: null,
  });
  const [seenByTom] = (await as(tom, 'GET', `/teams/${otherTeamId}/members`)).json.items;
  expect(seenByTom).toMatchObject({ id: bob.user.id, teams: [otherTeamId], primaryTeam: null });
  expect((await as(bob, 'GET', `${path}/${bob.user.id}`)).json.teams).toEqual([team.id, otherTeamId]);
});

test('only Admins of the team and the member see the last sign-in and the second factors', async () => {
  const { as, ada, bob, eve, tom, path, otherTeamId, directory, clock } = await open();
  const enrolled = { userId: eve.user.id, secret: 'A', createdAt: 1, lastStep: 1, lastUsedAt: 1, recoveryCodes: [] };
  await directory.change((tx) => {
    tx.put('users', eve.user.id, { ...eve.user, lastSignInAt: Date.UTC(2026, 0, 1) });
    tx.put('totp', eve.user.id, enrolled);
  });
  const shown = { lastSignInAt: '2026-01-01T00:00:00.000Z', secondFactors: ['totp'] };
  const hidden = { lastSignInAt: null, secondFactors: null };
  const created = new Date(clock.now()).toISOString();
  clock.advance(60_000);
  const members = `/teams/${otherTeamId}/members`;
  await as(bob, 'PUT', `${members}/${eve.user.id}`, { role: 'Viewer' });
  for (const [reader, at, seen, joinedAt] of [
    [ada, path, shown, created],
    [eve, path, shown, created],
    [tom, members, shown, new Date(clock.now()).toISOString()],
  ] as const) {
    expect((await as(reader, 'GET', `${at}/${eve.user.id}`)).json).toMatchObject({ ...seen, joinedAt });
  }
  expect((await as(eve, 'GET', `${members}/${tom.user.id}`)).json).toMatchObject(hidden);
  // A user who leaves a team and joins it again is a member since the second time.
  await as(tom, 'DELETE', `${members}/${eve.user.id}`);
  expect(directory.users.get(eve.user.id)?.joinedAt).toEqual({});
});

test('GET /teams/:id/members/:userId finds only members', async () => {
  const { as, eve, ada, tom, path } = await open();
  expect((await as(eve, 'GET', `${path}/${ada.user.id}`)).json).toMatchObject({ name: 'Ada' });
  const hidden = await as(eve, 'GET', `${path}/${tom.user.id}`);
  expect(hidden).toMatchObject(refusal(404, 'not_found'));
  expect(await as(eve, 'GET', `${path}/user_none`)).toEqual(hidden);
});

test('pages list every remaining member exactly once while others join and leave', async () => {
  const { pages, addUser, path, as, ada, eve, directory } = await open();
  for (const name of ['F', 'G', 'H', 'I', 'J']) await addUser(name);
  const before = listIds(await pages(path, 200));
  const seen = await pages(path, 2, async (page) => {
    if (page === 0) await as(ada, 'DELETE', `${path}/${eve.user.id}`);
    if (page === 1) await addUser('Late');
  });
  const there = [...directory.users.values()].map(({ id }) => id);
  const stayed = before.filter((id) => there.includes(id));
  expect(listIds(seen).filter((id) => stayed.includes(id))).toEqual(stayed);
  expect(new Set(listIds(seen)).size).toBe(seen.length);
  expect(seen.at(-1)?.name).toBe('Late');
});

describe('PUT /teams/:id/members/:userId', () => {
  test('adding a member from a shared team is idempotent, and takes effect immediately', async () => {
    const { as, bob, tom, path, team, otherTeamId } = await open();
    expect(await as(tom, 'GET', `/teams/${team.id}`)).toMatchObject({ status: 403 });
    const member = `${path}/${tom.user.id}`;
    const added = await as(bob, 'PUT', member);
    expect(added).toMatchObject({ status: 201, json: { name: 'Tom', teams: [otherTeamId, team.id] } });
    expect(added.headers['location']).toBe(`/api/v2${member}`);
    expect(await as(bob, 'PUT', member)).toMatchObject({ status: 200, json: added.json });
    expect(await as(tom, 'GET', `/teams/${team.id}`)).toMatchObject({ status: 200 });
    const own = (await as(tom, 'GET', '/users/me')).json;
    expect(own).toMatchObject({ teams: [otherTeamId, team.id], primaryTeam: otherTeamId });
  });

  test('an Admin can add a user to a team only if both are already in another common team', async () => {
    const { as, ada, tom, path, directory } = await open();
    const refused = await as(ada, 'PUT', `${path}/${tom.user.id}`);
    expect(refused).toMatchObject(refusal(403, 'not_in_team'));
    expect(directory.users.get(tom.user.id)?.teams).toEqual(tom.user.teams);
  });

  test('an Admin of only some teams of a user cannot change the account of the user', async () => {
    const { as, ada, bob, tom, path } = await open();
    await as(bob, 'PUT', `${path}/${tom.user.id}`);
    expect(await as(ada, 'PATCH', `/users/${tom.user.id}`, { role: 'User' })).toMatchObject({ status: 403 });
    expect(await as(ada, 'DELETE', `/users/${tom.user.id}`)).toMatchObject({ status: 403 });
  });

  test('adding a member gets status 404 for an unknown user, and 403 beyond the limit of the plan', async () => {
    const { as, ada, bob, tom, path, team, addUser } = await open();
    expect(await as(ada, 'PUT', `${path}/user_none`)).toMatchObject({ status: 404 });
    for (const name of ['F', 'G']) await addUser(name);
    await as(ada, 'PATCH', `/teams/${team.id}`, { plan: 'free' });
    const refused = await as(bob, 'PUT', `${path}/${tom.user.id}`);
    expect(refused).toMatchObject(refusal(403, 'plan_limit'));
    expect(await as(ada, 'POST', '/users', { email: 'h@example.com', name: 'H' })).toMatchObject(
      refusal(403, 'plan_limit'),
    );
  });
});

describe('DELETE /teams/:id/members/:userId', () => {
  test('removing a member takes effect immediately, and the user keeps their other teams', async () => {
    const { as, ada, bob, path, team, otherTeamId, directory } = await open();
    expect(await as(ada, 'DELETE', `${path}/${bob.user.id}`)).toMatchObject({ status: 204 });
    expect(await as(bob, 'GET', `/teams/${team.id}`)).toMatchObject({ status: 403 });
    const left = { teams: [otherTeamId], primaryTeam: otherTeamId };
    expect(directory.users.get(bob.user.id)).toMatchObject(left);
    expect(await as(ada, 'DELETE', `${path}/${bob.user.id}`)).toMatchObject({ status: 404 });
  });

  test('removing a member who has no other team deletes the user, with an entry in the audit log', async () => {
    const { as, ada, eve, path, directory, callWith } = await open();
    expect(await as(ada, 'DELETE', `${path}/${eve.user.id}`)).toMatchObject({ status: 204 });
    expect(directory.users.has(eve.user.id)).toBe(false);
    expect(await callWith(`Bearer ${eve.token}`, 'GET', '/teams')).toMatchObject({ status: 401 });
    const { items } = (await as(ada, 'GET', '/audit?limit=2')).json;
    expect(items.map(({ action }: Item) => action)).toEqual(['user.deleted', 'member.removed']);
    expect(items[0].target).toEqual({ type: 'user', id: eve.user.id, name: 'eve@example.com' });
  });

  test('the last Admin cannot be removed, and a caller cannot be removed from their only team', async () => {
    const { as, ada, bob, tom, path, otherTeamId } = await open();
    const others = `/teams/${otherTeamId}/members`;
    const only = await as(ada, 'DELETE', `${path}/${ada.user.id}`);
    expect(only).toMatchObject({ status: 409 });
    expect(only.json.detail).toContain('your only team');
    expect(await as(tom, 'DELETE', `${others}/${bob.user.id}`)).toMatchObject({ status: 204 });
    expect(await as(bob, 'DELETE', `${path}/${ada.user.id}`)).toMatchObject({ status: 204 });
    const last = await as(undefined, 'DELETE', `${path}/${bob.user.id}`);
    expect(last).toMatchObject(refusal(409, 'conflict'));
    expect(last.json.detail).toContain('last Admin of the team "Team"');
  });

  test('one of two Admins who remove each other concurrently remains in the team', async () => {
    const { as, ada, bob, path, team, directory } = await open();
    const both = await Promise.all([
      as(ada, 'DELETE', `${path}/${bob.user.id}`),
      as(bob, 'DELETE', `${path}/${ada.user.id}`),
    ]);
    expect(both.filter(({ status }) => status === 204)).toHaveLength(1);
    const admins = listMembers(directory, team.id).filter(({ role }) => role === 'Admin');
    expect(admins).toHaveLength(1);
  });
});
