import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeEach, vi } from 'vitest';
import { closeAll, running } from './binary.ts';
import { patienceMs } from './patience.ts';

/** This setup runs for each test file. */

afterAll(closeAll);

let before: ReadonlySet<ChildProcess> = new Set();

beforeEach(() => {
  before = new Set(running);
});

/**
 * Kills processes that a failed test has left running. Otherwise they would hold a directory that later tests of the
 * file need.
 */
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

/**
 * Removes stack frames that contain a directory from the stacks of failed tests. Such frames occur on Bun. Vitest reads
 * the directory as a source file, and the whole run fails with EISDIR even if a retry of the test passes.
 */
afterEach(({ task }) => {
  for (const error of task.result?.errors ?? [])
    if (error.stack !== undefined) error.stack = error.stack.split('\n').filter(isReadable).join('\n');
});

function isReadable(line: string): boolean {
  const path = /(?:\(|at )(?:file:\/\/)?([^()]*?):\d+:\d+\)?$/.exec(line)?.[1];
  return path === undefined || !existsSync(resolve(path)) || statSync(resolve(path)).isFile();
}

type Options = Parameters<typeof vi.waitFor>[1];

const patient = (options: Options) => {
  const { timeout = 0, ...others } = typeof options === 'number' ? { timeout: options } : (options ?? {});
  return { ...others, timeout: Math.max(timeout, patienceMs) };
};

/** Replaces functions whose time limit is one second, because vitest has no setting for the limit. */
const { waitFor, waitUntil } = vi;
vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));
