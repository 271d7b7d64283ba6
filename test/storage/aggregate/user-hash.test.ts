import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { type Hash64, hashIdentity, hashReported, murmur3 } from '../../../src/storage/aggregate/user-hash.ts';

const hex = ({ high, low }: Hash64) => [high, low].map((half) => half.toString(16).padStart(8, '0')).join('');

/**
 * Identities and hashes that must never change, because stored sketches depend on them. They were computed with another
 * implementation, mmh3 for Python.
 */
const identities = [
  ['', 'b2d2ffd8d694a860'],
  ['0', 'e65de8bda558cea1'],
  ['a', 'ee6e61b1549c76ca'],
  ['user-1', '43da30185bed3955'],
  ['user-2', 'e5802ba694adb178'],
  ['ada@example.com', '02be66643762db5d'],
  ['José 🚩', '4efc6f2b0b271a72'],
  ['\ufffd', 'cb05bd7e0650ce94'],
  ['\ud800', 'cb05bd7e0650ce94'],
  ['x'.repeat(3000), '7d2e7acb35ed0232'],
] as const;

const reported = [
  ['0', '89aa7e39e5701f44'],
  ['-1', 'a569e3a3928a9679'],
  ['2147483647', '938b9d6ad8bd85cd'],
  ['-2147483648', '547e9b03eec20c19'],
  ['18446744073709551616', 'ea17ac8dea59e588'],
] as const;

it.each(identities)('hashIdentity hashes %.20j to the same value forever', (identity, hash) => {
  expect(hex(hashIdentity(identity))).toBe(hash);
});

it.each(reported)('hashReported hashes %s to the same value forever', (decimal, hash) => {
  expect(hex(hashReported(decimal))).toBe(hash);
});

it.each([
  ['', '0000000000000000'],
  ['a', 'a794933c5556b01b'],
  ['The quick brown fox jumps over the lazy dog', '2f1583c3ecee2c67'],
])('murmur3 returns the first half of MurmurHash3 x86_128 for %j', (text, hash) => {
  const bytes = Buffer.from(text);
  expect(hex(murmur3(bytes, bytes.length))).toBe(hash);
});

it('murmur3 hashes inputs of every length, and ignores bytes after the given length', () => {
  const bytes = Buffer.from('The quick brown fox jumps over the lazy dog');
  const hashes = Array.from({ length: 35 }, (_, length) => hex(murmur3(bytes, length)));
  expect(new Set(hashes).size).toBe(35);
  expect(hashes).toEqual(hashes.map((_, length) => hex(murmur3(bytes.subarray(0, length), length))));
});

test('an identity and a reported hash of the same text are different users', () => {
  expect(hashIdentity('7')).not.toEqual(hashReported('7'));
});

test('Bun and Node compute the same hashes', () => {
  const root = join(import.meta.dirname, '../../..');
  const script = `
    import { hashIdentity, hashReported } from './src/storage/aggregate/user-hash.ts';
    const { identities, reported } = JSON.parse(process.argv[1]);
    console.log(JSON.stringify([...identities.map(hashIdentity), ...reported.map(hashReported)]));`;
  const users = { identities: identities.map(([text]) => text), reported: reported.map(([text]) => text) };
  const bun = join(root, 'node_modules/.bin/bun');
  const ran = spawnSync(bun, ['-e', script, JSON.stringify(users)], { cwd: root, encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  expect(JSON.parse(ran.stdout).map(hex)).toEqual([...identities, ...reported].map(([, hash]) => hash));
});
