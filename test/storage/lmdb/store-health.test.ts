import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createLog } from '../../../src/runtime/log.ts';
import { CommitFailed } from '../../../src/storage/commit/committer.ts';
import { StoreHealth } from '../../../src/storage/lmdb/store-health.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

function openHealth(data: string) {
  const lines: string[] = [];
  const ends: string[] = [];
  const waiting: (() => void)[] = [];
  const clock = { now: () => 0, monotonic: () => 0 };
  const health = new StoreHealth({
    log: createLog('info', (line) => void lines.push(line), clock),
    data,
    clock: { after: (_ms, callback) => void waiting.push(callback) },
    fatal: (reason) => void ends.push(reason),
  });
  return { health, lines, ends, waiting };
}

test.each([
  { what: 'ENOSPC', code: 28 },
  { what: 'EDQUOT', code: 122 },
  { what: 'ENOSPC of the file system', code: 'ENOSPC' },
])('$what makes the store wait for space, and recover once there is some', ({ code }) => {
  const { health, ends, lines, waiting } = openHealth(temporaryDirectory());
  health.failed(new CommitFailed('no room', code));
  expect(health.ready).toBe(false);
  expect(ends).toEqual([]);
  waiting.shift()?.();
  expect(health.ready).toBe(true);
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['error', 'info']);
});

test.each(['EMFILE', 'ENFILE', 24, 23])(
  '%s makes the store wait until a file can be opened, and everyone may read why',
  (code) => {
    const { health, ends, lines, waiting } = openHealth(temporaryDirectory());
    health.failed(new CommitFailed('too many open files', code));
    expect([health.ready, health.reason]).toEqual([false, 'too many files are open']);
    waiting.shift()?.();
    expect([health.ready, health.reason]).toEqual([true, undefined]);
    expect(ends).toEqual([]);
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(['error', 'info']);
  },
);

test('the store keeps waiting while there is no space', () => {
  const data = temporaryDirectory();
  const { health, waiting } = openHealth(data);
  health.failed(new CommitFailed('no room', 28));
  rmSync(data, { recursive: true });
  waiting.shift()?.();
  expect(health.ready).toBe(false);
  expect(waiting).toHaveLength(1);
});

test('any other failure ends the process, once', () => {
  const { health, ends } = openHealth(temporaryDirectory());
  health.failed(new CommitFailed('Input/output error', 5));
  health.failed(new CommitFailed('Input/output error', 5));
  expect(health.ready).toBe(false);
  expect(ends).toEqual(['the store failed']);
});
