import { describe, expect, test } from 'vitest';
import { noPasswordHash } from '../../../src/accounts/passwords.ts';
import { createTeam } from '../../../src/accounts/teams.ts';
import { createUser } from '../../../src/accounts/users.ts';
import { applyRules, type ProviderIdentity } from '../../../src/auth/sso/claims.ts';
import type { Role } from '../../../src/contract/roles.ts';
import type { GivenRole, IdentityProvider } from '../../../src/storage/lmdb/auth-records.ts';
import { openFixture } from '../../accounts/fixture.ts';

type GivenRoles = Readonly<Record<string, GivenRole>>;

/** Creates a user in one team, and another team in which the rules grant roles. */
async function openTeams(role: Role = 'User') {
  const { directory, team } = await openFixture();
  const { id: other } = await createTeam(directory, 'Other', { plan: 'free' });
  const wanted = { email: 'lin@corp.example', name: 'Lin', role, teams: [team.id] };
  const { id } = await createUser(directory, { ...wanted, passwordHash: noPasswordHash });
  /** Applies rules that grant these roles in the other team. */
  const apply = (roles: readonly Role[], given: GivenRoles = {}) =>
    directory.change((tx) => {
      const claimRules = roles.map((role) => ({ claim: 'groups', value: role, team: other, role }));
      const provider = { claimRules } as unknown as IdentityProvider;
      const identity = { matches: () => true } as unknown as ProviderIdentity;
      return applyRules(tx, tx.users.get(id)!, given, { provider, identity, now: 1 });
    });
  return { directory, other, id, apply };
}

describe('applyRules', () => {
  test('a user gets the highest role if several rules match', async () => {
    const { apply, other } = await openTeams();
    const { user, given } = await apply(['Viewer', 'Admin', 'User']);
    expect(user?.teamRoles).toEqual({ [other]: 'Admin' });
    expect(given).toEqual({ [other]: { role: 'Admin', before: null } });
  });

  test('rules remove an Admin from a team only if the team has another Admin', async () => {
    const { apply, other, directory } = await openTeams();
    const { given } = await apply(['Admin']);
    const kept = await apply([], given);
    expect(kept.user?.teamRoles).toEqual({ [other]: 'Admin' });
    expect(kept.given).toEqual(given);
    const lowered = await apply(['User'], given);
    expect(lowered.user?.teamRoles).toEqual({ [other]: 'Admin' });
    const second = { email: 'eve@corp.example', name: 'Eve', role: 'Admin' as const, teams: [other] };
    await createUser(directory, { ...second, passwordHash: noPasswordHash });
    expect((await apply([], kept.given)).user?.teams).not.toContain(other);
  });

  test('a member gets the previous role back when no rule grants a role any more', async () => {
    const { apply, other, directory, id } = await openTeams('Viewer');
    await directory.change((tx) => {
      const user = tx.users.get(id)!;
      tx.put('users', id, { ...user, teams: [...user.teams, other] });
    });
    const { user, given } = await apply(['User']);
    expect(user?.teamRoles).toEqual({ [other]: 'User' });
    expect((await apply([], given)).user).toMatchObject({ teamRoles: { [other]: 'Viewer' } });
  });

  test('rules add no member to a team that is full', async () => {
    const { apply, other, directory } = await openTeams();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
      await createUser(directory, {
        email: `${name}@corp.example`,
        name,
        role: 'User',
        teams: [other],
        passwordHash: noPasswordHash,
      }).catch(() => undefined);
    const { user, given } = await apply(['User']);
    expect(user?.teams).not.toContain(other);
    expect(given).toEqual({});
  });

  test('rules of deleted teams are ignored', async () => {
    const { apply, other, directory } = await openTeams();
    await directory.change((tx) => tx.remove('teams', other));
    expect((await apply(['User'])).given).toEqual({});
  });
});
