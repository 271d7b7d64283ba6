import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newPostgresKey, readPostgresKey } from '../../../src/replication/postgres/postgres-key.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

function fileWith(text: string, mode = 0o600): string {
  const file = join(temporaryDirectory(), 'key');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

const wrong = 'it must contain 32 random bytes';

describe('a key file', () => {
  test.each([
    ['base64', newPostgresKey()],
    ['hex', '0f'.repeat(32)],
  ])('a key file in %s decrypts the secrets that it has encrypted', (_, text) => {
    const file = fileWith(text);
    const sealed = readPostgresKey(file).seal('secret', 'key 1');
    expect(sealed).not.toContain(Buffer.from('secret').toString('base64'));
    expect(readPostgresKey(file).open(sealed, 'key 1').toString()).toBe('secret');
  });

  test('a key file encrypts the same secret differently each time', () => {
    const key = readPostgresKey(fileWith(newPostgresKey()));
    expect(key.seal('secret', 'a')).not.toBe(key.seal('secret', 'a'));
  });

  test.each([
    ['is empty', '', 0o600, wrong],
    ['is too short', Buffer.alloc(31).toString('base64'), 0o600, wrong],
    ['is too long', '0f'.repeat(33), 0o600, wrong],
    ['can be read by everyone', newPostgresKey(), 0o644, 'chmod o='],
  ])('a key file is refused if it %s', (_, text, mode, why) => {
    expect(() => readPostgresKey(fileWith(text, mode))).toThrow(why);
  });

  test('a missing key file is reported without the configured value, which could be the key itself', () => {
    expect(() => readPostgresKey('/nowhere/key')).toThrow(/^Cannot read --postgres-key-file \(ENOENT\): (?!.*nowhere)/);
  });
});

test.each([
  ['another key', (sealed: string) => [readPostgresKey(fileWith(newPostgresKey())), sealed, 'a'] as const],
  ['another purpose', (sealed: string, key: ReturnType<typeof readPostgresKey>) => [key, sealed, 'b'] as const],
  ['a changed text', (_: string, key: ReturnType<typeof readPostgresKey>) => [key, 'AAAA', 'a'] as const],
])('a secret cannot be decrypted with %s', (_, change) => {
  const key = readPostgresKey(fileWith(newPostgresKey()));
  const [opener, sealed, about] = change(key.seal('secret', 'a'), key);
  expect(() => opener.open(sealed, about)).toThrow('--postgres-key-file');
});
