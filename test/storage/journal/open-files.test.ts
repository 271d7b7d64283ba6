import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshDirectory } from '../../support/binary.ts';

const root = join(import.meta.dirname, '../../..');

/** Appends a frame in a process without a free descriptor. If `frees` is `yes`, each pause closes a file. */
const script = `
  import { closeSync, openSync } from 'node:fs';
  import { journalDirectory } from './src/storage/journal/files.ts';
  import { JournalWriter } from './src/storage/journal/writer.ts';
  const [directory, frees] = process.argv.slice(-2);
  const held = [];
  let pauses = 0;
  const files = journalDirectory(directory, () => {
    pauses += 1;
    if (frees === 'yes') closeSync(held.pop());
  });
  try { for (;;) held.push(openSync('/dev/null')); } catch {}
  let outcome;
  try { outcome = new JournalWriter({ files, id: new Uint8Array(16), segmentSize: 65536 }, 0).append([Buffer.from('a')]); }
  catch ({ code }) { outcome = code; }
  console.log(JSON.stringify({ outcome, pauses }));
`;

test.each([
  ['waits until a file can be opened', 'yes', { outcome: 1, pauses: 1 }],
  ['refuses a frame after two seconds without a free descriptor', 'no', { outcome: 'EMFILE', pauses: 99 }],
])('a journal %s', (_what, frees, expected) => {
  const bun = join(root, 'node_modules/.bin/bun');
  const args = ['--nofile=64', bun, '-e', script, freshDirectory(), frees];
  const { stdout, stderr } = spawnSync('prlimit', args, { cwd: root, encoding: 'utf8' });
  expect(JSON.parse(stdout || stderr)).toEqual(expected);
});
