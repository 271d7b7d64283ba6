import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach } from 'vitest';

/**
 * Removes frames that name a directory from the stacks of failed tests. On Bun such frames occur, and vitest then reads the directory
 * as a source file: the whole run fails with EISDIR, although the test passes when it is retried.
 */
afterEach(({ task }) => {
  for (const error of task.result?.errors ?? [])
    if (error.stack !== undefined) error.stack = error.stack.split('\n').filter(isReadable).join('\n');
});

function isReadable(line: string): boolean {
  const path = /(?:\(|at )(?:file:\/\/)?([^()]*?):\d+:\d+\)?$/.exec(line)?.[1];
  return path === undefined || !existsSync(resolve(path)) || statSync(resolve(path)).isFile();
}
