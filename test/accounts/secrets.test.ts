import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashPassword, isPassword, newPassword, verifyPassword } from '../../src/accounts/passwords.ts';
import { hashSecret, keyPrefix, matchesHash, newClientSecret, newId, newKeyText } from '../../src/accounts/secrets.ts';

test('keys, ids and secrets begin with a prefix for their kind, and never repeat', () => {
  expect(newKeyText('Frontend', randomBytes)).toMatch(/^fm_fe_[0-9a-f]{40}$/);
  expect(newKeyText('Mobile', randomBytes)).toMatch(/^fm_mo_[0-9a-f]{40}$/);
  expect(newKeyText('Backend', randomBytes)).toMatch(/^fm_be_[0-9a-f]{40}$/);
  expect(newClientSecret(randomBytes)).toMatch(/^fm_secret_[0-9a-f]{64}$/);
  expect(new Set(Array.from({ length: 1000 }, () => newId('app', randomBytes))).size).toBe(1000);
});

test('a Backend key has at least 128 secret bits after its public prefix', () => {
  const text = newKeyText('Backend', randomBytes);
  expect((text.length - keyPrefix(text).length) * 4).toBeGreaterThanOrEqual(128);
});

test('a secret matches only its own hash', () => {
  expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(matchesHash('abc', hashSecret('abc'))).toBe(true);
  expect(matchesHash('abd', hashSecret('abc'))).toBe(false);
  expect(matchesHash('abc', '')).toBe(false);
});

test('a password is verified against its argon2id hash', async () => {
  const hash = await hashPassword('correct horse', randomBytes);
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword('correct horse', hash)).toBe(true);
  expect(await verifyPassword('correct house', hash)).toBe(false);
  expect(await verifyPassword('', hash)).toBe(false);
});

test('verifying a password considers its case, its spaces and all of its characters', async () => {
  const typed = ` Correct horse ${'x'.repeat(200)} `;
  const hash = await hashPassword(typed, randomBytes);
  expect(await verifyPassword(typed, hash)).toBe(true);
  for (const other of [typed.trim(), typed.toLowerCase(), typed.slice(0, 72)])
    expect(await verifyPassword(other, hash), other).toBe(false);
});

test('a password that is too long is rejected without being hashed', async () => {
  expect(isPassword('a'.repeat(1024))).toBe(true);
  expect(isPassword('é'.repeat(513))).toBe(false);
  expect(() => hashPassword('a'.repeat(1025), randomBytes)).toThrow(RangeError);
  expect(await verifyPassword('a'.repeat(1_000_000), 'not even a hash')).toBe(false);
});

test('a generated password is easy to type and has 100 random bits', () => {
  expect(newPassword(randomBytes)).toMatch(/^([a-z2-9]{5}-){3}[a-z2-9]{5}$/);
});
