import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach } from 'vitest';
import { running } from './binary.ts';

let before: ReadonlySet<ChildProcess> = new Set();

beforeEach(() => {
  before = new Set(running);
});

/** Kills the processes that a failed test has left. They would hold a directory, so that later tests of the file failed as well. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  const left = [...running].filter((child) => !before.has(child));
  await Promise.all(
    left.map((child) => {
      child.kill('SIGKILL');
      return once(child, 'close');
    }),
  );
});
