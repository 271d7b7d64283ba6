import { expect, it } from 'vitest';
import { PostgresKey, readSecret, storedSecret } from '../../../src/replication/postgres/postgres-key.ts';

const secret = Buffer.alloc(32, 7);
const key = new PostgresKey(Buffer.alloc(32, 1));
const other = new PostgresKey(Buffer.alloc(32, 2));

it('a stored secret can be read again, and is encrypted if there is a key', () => {
  expect(readSecret(storedSecret(secret, undefined), undefined)).toEqual(secret);
  expect(readSecret(storedSecret(secret, key), key)).toEqual(secret);
  expect(storedSecret(secret, key)).not.toContain(secret.toString('base64'));
});

it.each([
  ['another key file', key, other, 'is not the key file of this database'],
  ['no key file', key, undefined, 'name the key file of the other nodes'],
  ['a key file for an unencrypted secret', undefined, key, 'flagmeter postgres encrypt'],
])('reading a secret in PostgreSQL fails with %s', (_, made, given, message) => {
  expect(() => readSecret(storedSecret(secret, made), given)).toThrow(message);
});
