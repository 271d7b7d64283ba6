import { describe, expect, test } from 'vitest';
import { putMember, removeMember } from '../../src/accounts/members.ts';
import { createTeam, deleteTeam } from '../../src/accounts/teams.ts';
import { createUser, deleteUser, userOfEmail } from '../../src/accounts/users.ts';
import type { Role } from '../../src/contract/roles.ts';
import { openFixture, patchUser, reopen } from './fixture.ts';

async function open() {
  const fixture = await openFixture();
  const { directory, team } = fixture;
  const addUser = (name: string, role: Role = 'User', teams: readonly string[] = [team.id]) =>
    createUser(directory, { email: `${name}@example.com`, name, role, teams, passwordHash: 'hash' });
  return { ...fixture, person: addUser };
}

test('a user is found by e-mail address in any letter case, even after a restart', async () => {
  const fixture = await open();
  const user = await fixture.person('Åsa');
  for (const directory of [fixture.directory, reopen(fixture)]) {
    expect(userOfEmail(directory, 'åSA@EXAMPLE.com')).toEqual(user);
    expect(userOfEmail(directory, 'asa@example.com')).toBeUndefined();
  }
});

test('changes and deletions of users survive a restart', async () => {
  const fixture = await open();
  const { directory, person } = fixture;
  const kept = await person('kept');
  const gone = await person('gone');
  await patchUser(directory, kept.id, { name: 'Renamed', passwordHash: 'new' });
  await deleteUser(directory, gone.id);
  const users = [...reopen(fixture).users.values()];
  expect(users).toMatchObject([{ id: kept.id, name: 'Renamed', passwordHash: 'new' }]);
  await expect(patchUser(directory, gone.id, { name: 'x' })).rejects.toMatchObject({ code: 'not_found' });
});

test('creating or deleting a team changes either all of its members or no member', async () => {
  const { directory, person } = await open();
  const user = await person('ada', 'Admin');
  const made = createTeam(directory, 'New', { listFounders: () => [user.id, 'user_none'] });
  await expect(made).rejects.toMatchObject({ code: 'not_found' });
  expect(directory.users.get(user.id)).toEqual(user);
  expect(directory.teams.size).toBe(1);
  const team = await createTeam(directory, 'New', { listFounders: () => [user.id] });
  await deleteTeam(directory, team.id);
  expect(directory.users.get(user.id)).toMatchObject({ teams: user.teams, primaryTeam: user.primaryTeam });
});

describe('the last Admin of a team', () => {
  test('a user cannot be deleted while they are the last Admin of any of their teams', async () => {
    const { directory, person, team } = await open();
    const other = await createTeam(directory, 'Other');
    const ada = await person('ada', 'Admin', [team.id, other.id]);
    await person('bob', 'Admin');
    await person('eve', 'User', [other.id]);
    const conflict = { code: 'conflict', message: expect.stringContaining('"Other"') };
    await expect(deleteUser(directory, ada.id)).rejects.toMatchObject(conflict);
    await expect(patchUser(directory, ada.id, { role: 'User' })).rejects.toMatchObject(conflict);
    await expect(removeMember(directory, other.id, ada.id)).rejects.toMatchObject(conflict);
    await removeMember(directory, team.id, ada.id);
    await putMember(directory, team.id, ada.id);
    await person('zoe', 'Admin', [other.id]);
    await deleteUser(directory, ada.id);
  });

  test('one of two Admins of a team keeps the role if both give up the role concurrently', async () => {
    const { directory, person } = await open();
    const two = [await person('ada', 'Admin'), await person('bob', 'Admin')];
    const done = await Promise.allSettled(two.map(({ id }) => patchUser(directory, id, { role: 'User' })));
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});

test('events of a user are in the audit log of each team of the user', async () => {
  const { directory, person, team, store } = await open();
  const other = await createTeam(directory, 'Other');
  const { id } = await person('eve', 'User', [team.id, other.id]);
  await patchUser(directory, id, { passwordHash: 'new' });
  await deleteUser(directory, id);
  const noted = [...store.audit.getRange()].map(({ value }) => [value.action, value.teamId]);
  expect(noted.slice(-6)).toEqual(
    ['user.created', 'user.password-changed', 'user.deleted'].flatMap((action) => [
      [action, team.id],
      [action, other.id],
    ]),
  );
});
