import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  findInvitation,
  newLink,
  purposeFor,
  redeemInvitation,
  userOfLink,
  withdrawLink,
} from '../../src/accounts/invitations.ts';
import { hasPassword, noPasswordHash, withoutPassword } from '../../src/accounts/passwords.ts';
import { applyUserPatch, createUser, deleteUser } from '../../src/accounts/users.ts';
import { openUsersFixture } from '../management/people.ts';

const dayMs = 24 * 3_600_000;
const lifetimes = { invitation: 7 * dayMs, 'reset-link': dayMs };

/** Creates an invited user with their link. */
async function open() {
  const fixture = await openUsersFixture();
  const { directory, clock, team } = fixture;
  const sources = { randomBytes, now: clock.now(), lifetimes };
  const { token, invitation } = newLink('invitation', noPasswordHash, sources);
  const wanted = { email: 'zoe@example.com', name: 'Zoe', role: 'User', teams: [team.id] } as const;
  const user = await createUser(directory, { ...wanted, passwordHash: noPasswordHash, invitation });
  const redeem = (presented = token) => directory.change((tx) => redeemInvitation(tx, presented, clock.now()));
  return { ...fixture, user, token, redeem };
}

test('only one of two concurrent requests redeems an invitation link', async () => {
  const { redeem, user, directory } = await open();
  const both = await Promise.all([redeem(), redeem()]);
  expect(both).toEqual([{ ...user, invitation: undefined }, undefined]);
  expect(directory.users.get(user.id)).not.toHaveProperty('invitation');
  expect(await redeem()).toBeUndefined();
});

type Fixture = Awaited<ReturnType<typeof open>>;

describe('a link', () => {
  test.each<[string, (fixture: Fixture) => unknown]>([
    ['its expiry', ({ clock }) => clock.advance(lifetimes.invitation)],
    ['the deletion of its user', ({ directory, user }) => deleteUser(directory, user.id)],
    ['its withdrawal', ({ directory, user, clock }) => directory.change((tx) => withdrawLink(tx, user, clock.now()))],
    ['the creation of another link', ({ as, ada, user }) => as(ada, 'POST', `/users/${user.id}/reset-link`, {})],
    [
      'a change of the e-mail address',
      ({ as, ada, user }) => as(ada, 'PATCH', `/users/${user.id}`, { email: 'zoey@example.com' }),
    ],
    [
      'a change of the password',
      ({ directory, user, clock }) =>
        directory.change((tx) => applyUserPatch(tx, user, { passwordHash: 'hash' }, clock.now())),
    ],
    [
      'a change of the password by an earlier release',
      ({ directory, user }) => directory.change((tx) => tx.put('users', user.id, { ...user, passwordHash: 'hash' })),
    ],
  ])('an invitation link is invalid after %s', async (_, end) => {
    const fixture = await open();
    expect(userOfLink(fixture.directory, fixture.token, fixture.clock.now())).toBeDefined();
    await end(fixture);
    expect(await fixture.redeem()).toBeUndefined();
  });

  test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(44), `${'A'.repeat(42)}#`, 'x'.repeat(100_000)])(
    'an invitation link is invalid if its token is unknown: %.50s',
    async (token) => {
      const { redeem } = await open();
      expect(await redeem(token)).toBeUndefined();
    },
  );
});

test('an invitation link remains valid if the name and the role of its user change', async () => {
  const { as, ada, user, redeem } = await open();
  await as(ada, 'PATCH', `/users/${user.id}`, { name: 'Zoey', role: 'Admin' });
  expect(await redeem()).toMatchObject({ name: 'Zoey', role: 'Admin' });
});

test('a user whose record is from an earlier release has no invitation link', async () => {
  const { eve } = await openUsersFixture();
  expect(findInvitation(eve.user)).toBeUndefined();
  expect(purposeFor(eve.user)).toBe('reset-link');
});

test('password hashes that mean "no password" differ, and are recognised as "no password"', () => {
  const hashes = [noPasswordHash, withoutPassword(randomBytes), withoutPassword(randomBytes)];
  expect(new Set(hashes).size).toBe(3);
  for (const passwordHash of hashes) {
    expect(passwordHash).toHaveLength(noPasswordHash.length);
    expect(hasPassword({ passwordHash })).toBe(false);
  }
});
