import { expect, it } from 'vitest';
import { EngineKey, readSecret, storedSecret } from '../../../src/replication/postgres/engine-key.ts';

const secret = Buffer.alloc(32, 7);
const key = new EngineKey(Buffer.alloc(32, 1));
const other = new EngineKey(Buffer.alloc(32, 2));

it('is read as it was, and not shown when there is a key', () => {
  expect(readSecret(storedSecret(secret, undefined), undefined)).toEqual(secret);
  expect(readSecret(storedSecret(secret, key), key)).toEqual(secret);
  expect(storedSecret(secret, key)).not.toContain(secret.toString('base64'));
});

it.each([
  ['another key file', key, other, 'is not the key file that the engine was made with'],
  ['no key file', key, undefined, 'give the same one with --engine-key-file'],
  ['a key file where there was none', undefined, key, 'leave out --engine-key-file'],
])('is refused with %s', (_, made, given, message) => {
  expect(() => readSecret(storedSecret(secret, made), given)).toThrow(message);
});
