import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { BackupKey, readBackupKey } from '../../../src/storage/backup/backup-key.ts';
import { BlockChain, encodeHead, magic } from '../../../src/storage/backup/format.ts';
import { readBackup } from '../../../src/storage/backup/read-backup.ts';
import { restore } from '../../../src/storage/backup/restore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { backUp, everythingIn, filledDirectory, steady } from './data-directory.ts';

const key = new BackupKey(Buffer.alloc(32, 1));
const otherKey = new BackupKey(Buffer.alloc(32, 2));

async function makeBackup(withKey?: BackupKey): Promise<{ readonly data: string; readonly file: string }> {
  const data = filledDirectory();
  const file = join(dirname(data), 'backup');
  await backUp(data, file, steady, withKey);
  return { data, file };
}

function freshTarget(): string {
  const data = join(temporaryDirectory(), 'data');
  mkdirSync(data);
  return data;
}

/** Returns the backup with one changed byte in its last page, and with new digests. */
function altered(backup: Buffer): Buffer {
  const chain = new BlockChain();
  const chunks: Buffer[] = [magic];
  for (let at = magic.length; at < backup.length; ) {
    const length = backup.readUInt32LE(at + 4);
    const content = Buffer.from(backup.subarray(at + 8, at + 8 + length));
    const kind = backup[at]!;
    // The next block is the end of the backup, so this block has the last page.
    if (backup[at + 8 + length + 32] === 3) content[content.length - 1]! ^= 1;
    const head = encodeHead(kind, length);
    chunks.push(head, content, chain.digest([head, content]));
    at += 8 + length + 32;
  }
  return Buffer.concat(chunks);
}

test('a backup with a MAC is restored with its key', async () => {
  const { data, file } = await makeBackup(key);
  const target = freshTarget();
  const { mac } = await restore(file, target, steady, { key, mayBeUnchecked: false });
  expect(mac).toBe('checked');
  expect(await everythingIn(target)).toEqual(await everythingIn(data));
});

test.each([
  ['with a MAC and no key', key, undefined, 'it has a MAC, but no key was specified'],
  ['with the MAC of another key', key, otherKey, 'its MAC is wrong'],
  ['without a MAC when a key is specified', undefined, key, 'it has no MAC'],
])('a backup %s is refused with a remedy', async (_, made, given, why) => {
  const { file } = await makeBackup(made);
  const target = freshTarget();
  const refused = restore(file, target, steady, { key: given, mayBeUnchecked: false });
  await expect(refused).rejects.toThrow(`Cannot use ${file}: ${why}`);
  expect(readdirSync(target)).toEqual([]);
});

test('a changed backup with correct hashes is refused because its MAC is wrong', async () => {
  const { file } = await makeBackup(key);
  writeFileSync(file, altered(readFileSync(file)));
  await expect(readBackup(file, {}, steady, { key, mayBeUnchecked: false })).rejects.toThrow('its MAC is wrong');
});

test('a backup is read without a check of its MAC if --skip-mac-check is given', async () => {
  const { file } = await makeBackup(key);
  expect(await readBackup(file, {}, steady, { mayBeUnchecked: true })).toMatchObject({ mac: 'unchecked' });
});

test('a key file is read with or without a newline at its end', () => {
  const file = join(temporaryDirectory(), 'key');
  const mac = new BackupKey(Buffer.from('k'.repeat(32))).computeMac([]);
  for (const text of ['k'.repeat(32), `${'k'.repeat(32)}\n`]) {
    writeFileSync(file, text, { mode: 0o600 });
    expect(readBackupKey(file).computeMac([])).toBe(mac);
  }
});

test.each([
  ['short', 'k'.repeat(31), 0o600, 'it has 31 bytes, and a key has at least 32'],
  ['readable by everyone', 'k'.repeat(32), 0o644, 'everyone can read it; chmod o= '],
])('a key file that is %s is refused', (_, text, mode, why) => {
  const file = join(temporaryDirectory(), 'key');
  writeFileSync(file, text);
  chmodSync(file, mode);
  expect(() => readBackupKey(file)).toThrow(`Cannot use --backup-key-file ${file}: ${why}`);
});

test('the error for a key that was passed in place of its file does not show the key', () => {
  expect(() => readBackupKey('deadbeef')).toThrow(/^Cannot read --backup-key-file \(ENOENT\)(?!.*deadbeef)/);
});
