import { describe, expect, it, test } from 'vitest';
import { demandsSecondFactor, patchSignInPolicy, readSignInPolicy } from '../../src/accounts/sign-in-policy.ts';
import { createTeam, patchTeam } from '../../src/accounts/teams.ts';
import type { Role } from '../../src/contract/roles.ts';
import type { SecondFactorRule } from '../../src/contract/shapes/sign-in-policy.ts';
import type { User } from '../../src/storage/lmdb/records.ts';
import { openFixture } from './fixture.ts';

describe('the sign-in policy', () => {
  it('a sign-in policy has defaults, and keeps the fields that a change omits', async () => {
    const { directory, accountStore } = await openFixture();
    expect(readSignInPolicy(accountStore)).toEqual({
      secondFactor: 'optional',
      passwords: 'everyone',
      breakGlass: [],
      domains: [],
    });
    await patchSignInPolicy(directory, { secondFactor: 'all' });
    await patchSignInPolicy(directory, { breakGlass: [] });
    expect(readSignInPolicy(accountStore)).toMatchObject({ secondFactor: 'all', passwords: 'everyone' });
  });

  it('a sign-in policy cannot have a break-glass user who does not exist', async () => {
    const { directory } = await openFixture();
    await expect(patchSignInPolicy(directory, { breakGlass: ['nobody'] })).rejects.toMatchObject({
      code: 'invalid_body',
    });
  });
});

const table: readonly [SecondFactorRule, SecondFactorRule, Role, boolean][] = [
  ['optional', 'optional', 'Admin', false],
  ['optional', 'admins', 'Admin', true],
  ['optional', 'admins', 'User', false],
  ['optional', 'all', 'User', true],
  ['admins', 'optional', 'Admin', true],
  ['admins', 'optional', 'User', false],
  ['admins', 'all', 'User', true],
  ['all', 'optional', 'User', true],
];

test.each(table)(
  'the rules %s (installation) and %s (team) demand a second factor of the role %s: %s',
  async (...row) => {
    const [installation, own, role, demanded] = row;
    const { directory, accountStore } = await openFixture();
    const { id } = await createTeam(directory, 'Shop');
    await patchSignInPolicy(directory, { secondFactor: installation });
    await patchTeam(directory, id, { secondFactor: own });
    expect(demandsSecondFactor(accountStore, { teams: [id], role } as unknown as User)).toBe(demanded);
  },
);
