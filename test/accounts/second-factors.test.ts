import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { expect, test } from 'vitest';
import { addTotp, listSecondFactors, loadTotps, removeSecondFactors } from '../../src/accounts/second-factors.ts';
import { createUser, deleteUser } from '../../src/accounts/users.ts';
import { openFixture } from './fixture.ts';

/** Creates a user with an authenticator app. */
async function enrolled() {
  const { directory, accountStore, team, clock } = await openFixture();
  const wanted = { email: 'ada@example.com', name: 'Ada', role: 'User', teams: [team.id], passwordHash: '' } as const;
  const { id } = await createUser(directory, wanted);
  const totps = await loadTotps(randomBytes);
  const secret = totps.newSecret();
  const code = TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: clock.now() });
  const add = () => directory.change((tx) => addTotp(directory, totps, tx, id, { secret, code }));
  expect(await add()).toHaveLength(10);
  return { directory, accountStore, id, add };
}

test('a user has at most one authenticator app', async () => {
  const { add, accountStore, id } = await enrolled();
  await expect(add()).rejects.toMatchObject({ code: 'conflict' });
  expect(listSecondFactors(accountStore, id)).toEqual(['totp', 'recovery-code']);
});

test('removing the second factors of a user without second factors succeeds', async () => {
  const { directory, accountStore, id } = await enrolled();
  for (const _ of ['first', 'again']) await directory.change((tx) => removeSecondFactors(tx, id));
  expect(listSecondFactors(accountStore, id)).toEqual([]);
});

test('the authenticator app of a user is deleted with the user', async () => {
  const { directory, accountStore, id } = await enrolled();
  await deleteUser(directory, id);
  expect(accountStore.get('totp', id)).toBeUndefined();
});
