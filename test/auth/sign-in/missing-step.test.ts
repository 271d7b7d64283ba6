import { expect, test } from 'vitest';
import { temporary } from '../../../src/accounts/passwords.ts';
import { patchSignInPolicy } from '../../../src/accounts/sign-in-policy.ts';
import { missingStep } from '../../../src/auth/oauth/sign-ins.ts';
import type { Factor } from '../../../src/contract/sign-in.ts';
import type { User } from '../../../src/storage/lmdb/records.ts';
import { openFixture } from '../../accounts/fixture.ts';

interface Situation {
  readonly policy?: 'all';
  readonly totp?: true;
  readonly temporaryPassword?: true;
  /** True if the provider is not trusted with two factors. */
  readonly isOneFactor?: true;
}

const table: readonly [situation: Situation, factors: readonly Factor[], missing: string | undefined][] = [
  [{}, ['password'], undefined],
  [{ policy: 'all' }, ['password'], 'enrolment'],
  [{ policy: 'all' }, ['invitation', 'password'], 'enrolment'],
  [{ policy: 'all' }, ['passkey'], undefined],
  [{ policy: 'all' }, ['provider'], undefined],
  [{ policy: 'all', isOneFactor: true }, ['provider'], 'enrolment'],
  [{ totp: true, isOneFactor: true }, ['provider'], 'second-factor'],
  [{ totp: true, isOneFactor: true }, ['provider', 'totp'], undefined],
  [{ totp: true }, ['password'], 'second-factor'],
  // A reset link replaces the password, not the second factor.
  [{ totp: true }, ['invitation', 'password'], 'second-factor'],
  [{ totp: true }, ['password', 'totp'], undefined],
  [{ totp: true }, ['password', 'recovery-code'], undefined],
  [{ totp: true }, ['passkey'], undefined],
  [{ temporaryPassword: true }, ['password'], 'new-password'],
  [{ temporaryPassword: true }, ['passkey'], undefined],
  // The password without the second factor must not be enough to choose another password.
  [{ temporaryPassword: true, totp: true }, ['password'], 'second-factor'],
  [{ temporaryPassword: true, totp: true }, ['password', 'totp'], 'new-password'],
  [{ temporaryPassword: true, policy: 'all' }, ['password'], 'new-password'],
];

test.each(table)('missingStep for %j after the factors %j returns %s', async (situation, factors, missing) => {
  const { directory, accountStore, team } = await openFixture();
  const { policy = 'optional', totp, temporaryPassword, isOneFactor } = situation;
  await patchSignInPolicy(directory, { secondFactor: policy });
  const record = { userId: 'ada', secret: '', createdAt: 0, lastStep: 0, lastUsedAt: 0, recoveryCodes: [] };
  if (totp) await directory.change((tx) => tx.put('totp', 'ada', record));
  const session = { id: 'provider_1', issuer: 'https://corp.example', subject: 'ada', sid: null };
  const provider = isOneFactor && { provider: { ...session, isOneFactor } };
  const user = {
    id: 'ada',
    role: 'User',
    teams: [team.id],
    passwordHash: 'hash',
    ...(temporaryPassword && temporary('hash')),
  } as unknown as User;
  expect(missingStep(accountStore, user, { factors, userAgent: '', ...provider })).toBe(missing);
});
