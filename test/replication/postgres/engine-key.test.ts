import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newEngineKey, readEngineKey } from '../../../src/replication/postgres/engine-key.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

function fileWith(text: string, mode = 0o600): string {
  const file = join(temporaryDirectory(), 'key');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

const wrong = 'it must hold 32 random bytes';

describe('a key file', () => {
  test.each([
    ['base64', newEngineKey()],
    ['hex', '0f'.repeat(32)],
  ])('in %s opens what it has sealed', (_, text) => {
    const file = fileWith(text);
    const sealed = readEngineKey(file).seal('secret', 'key 1');
    expect(sealed).not.toContain(Buffer.from('secret').toString('base64'));
    expect(readEngineKey(file).open(sealed, 'key 1').toString()).toBe('secret');
  });

  test('seals the same secret to another text each time', () => {
    const key = readEngineKey(fileWith(newEngineKey()));
    expect(key.seal('secret', 'a')).not.toBe(key.seal('secret', 'a'));
  });

  test.each([
    ['is empty', '', 0o600, wrong],
    ['is too short', Buffer.alloc(31).toString('base64'), 0o600, wrong],
    ['is too long', '0f'.repeat(33), 0o600, wrong],
    ['can be read by everyone', newEngineKey(), 0o644, 'chmod o='],
  ])('that %s is refused', (_, text, mode, why) => {
    expect(() => readEngineKey(fileWith(text, mode))).toThrow(why);
  });

  test('that is missing is told, and what was given is not repeated: it may be the key itself', () => {
    expect(() => readEngineKey('/nowhere/key')).toThrow(
      /^Cannot read --engine-key-file \(ENOENT\): (?!.*nowhere)/,
    );
  });
});

test.each([
  ['another key', (sealed: string) => [readEngineKey(fileWith(newEngineKey())), sealed, 'a'] as const],
  ['another purpose', (sealed: string, key: ReturnType<typeof readEngineKey>) => [key, sealed, 'b'] as const],
  ['a changed text', (_: string, key: ReturnType<typeof readEngineKey>) => [key, 'AAAA', 'a'] as const],
])('nothing opens with %s', (_, change) => {
  const key = readEngineKey(fileWith(newEngineKey()));
  const [opener, sealed, about] = change(key.seal('secret', 'a'), key);
  expect(() => opener.open(sealed, about)).toThrow('--engine-key-file');
});
