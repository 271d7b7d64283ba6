import { describe, expect, test } from 'vitest';
import { openUsersFixture } from './people.ts';

describe('the role of a member', () => {
  test('an Admin can set the role of a member, and the role is valid only in that team', async () => {
    const { as, bob, eve, team, otherTeamId, directory } = await openUsersFixture();
    const inOther = `/teams/${otherTeamId}/members/${eve.user.id}`;
    const added = await as(bob, 'PUT', inOther, { role: 'Admin' });
    expect(added).toMatchObject({ status: 201, json: { role: 'Admin' } });
    expect(directory.users.get(eve.user.id)).toMatchObject({ role: 'User' });
    expect(await as(eve, 'PATCH', `/teams/${otherTeamId}`, { name: 'B' })).toMatchObject({ status: 200 });
    expect(await as(eve, 'PATCH', `/teams/${team.id}`, { name: 'A' })).toMatchObject({ status: 403 });
    const teamRoles = { [team.id]: 'User', [otherTeamId]: 'Admin' };
    expect((await as(eve, 'GET', '/users/me')).json).toMatchObject({ role: 'User', teamRoles });
    await as(bob, 'PUT', inOther, { role: 'Viewer' });
    expect(await as(eve, 'PATCH', `/teams/${otherTeamId}`, { name: 'C' })).toMatchObject({ status: 403 });
  });

  test('adding a member again keeps the role in the team, and an unset role follows the default role', async () => {
    const { as, ada, bob, eve, team, otherTeamId } = await openUsersFixture();
    const path = `/teams/${team.id}/members/${eve.user.id}`;
    expect((await as(ada, 'PUT', path)).json).toMatchObject({ role: 'User' });
    await as(ada, 'PUT', path, { role: 'Viewer' });
    expect((await as(ada, 'PUT', path)).json).toMatchObject({ role: 'Viewer' });
    await as(bob, 'PUT', `/teams/${otherTeamId}/members/${eve.user.id}`);
    await as(bob, 'PATCH', `/users/${eve.user.id}`, { role: 'Admin' });
    const teamRoles = { [team.id]: 'Viewer', [otherTeamId]: 'Admin' };
    expect((await as(bob, 'GET', `/users/${eve.user.id}`)).json).toMatchObject({ teamRoles });
  });

  test('the role in a team ends with the membership', async () => {
    const { as, bob, eve, team, otherTeamId, directory } = await openUsersFixture();
    const path = `/teams/${otherTeamId}/members/${eve.user.id}`;
    await as(bob, 'PUT', path, { role: 'Admin' });
    await as(bob, 'DELETE', path);
    expect(directory.users.get(eve.user.id)).toMatchObject({ teams: [team.id], teamRoles: {} });
    expect((await as(bob, 'PUT', path)).json).toMatchObject({ role: 'User' });
  });

  test('members cannot change their own role, and the last Admin cannot lose the role', async () => {
    const { as, ada, bob, team, otherTeamId, tom } = await openUsersFixture();
    const own = await as(ada, 'PUT', `/teams/${team.id}/members/${ada.user.id}`, { role: 'User' });
    expect(own).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    await as(bob, 'PUT', `/teams/${otherTeamId}/members/${tom.user.id}`, { role: 'Viewer' });
    const call = await as(undefined, 'PUT', `/teams/${team.id}/members/${ada.user.id}`, { role: 'Viewer' });
    expect(call).toMatchObject({ status: 200 });
    const last = await as(undefined, 'PUT', `/teams/${team.id}/members/${bob.user.id}`, { role: 'Viewer' });
    expect(last).toMatchObject({ status: 409, json: { code: 'conflict' } });
  });

  test('an Admin can add a user of another team only as an Admin of both teams', async () => {
    const { as, bob, addUser, team, otherTeamId } = await openUsersFixture();
    const zoe = await addUser('Zoe', 'Admin', [team.id]);
    await as(bob, 'PUT', `/teams/${otherTeamId}/members/${zoe.user.id}`, { role: 'Viewer' });
    const tim = await addUser('Tim', 'User', [otherTeamId]);
    const added = await as(zoe, 'PUT', `/teams/${team.id}/members/${tim.user.id}`);
    expect(added).toMatchObject({ status: 403, json: { code: 'forbidden' } });
  });
});

test('the user who creates a team is its Admin, even with a lower default role', async () => {
  const { as, ada, eve, team, directory } = await openUsersFixture();
  await as(ada, 'PUT', `/teams/${team.id}/members/${eve.user.id}`, { role: 'Admin' });
  const { json } = await as(eve, 'POST', '/teams', { name: 'New' });
  expect(directory.users.get(eve.user.id)?.teamRoles).toEqual({ [team.id]: 'Admin', [json.id]: 'Admin' });
});
