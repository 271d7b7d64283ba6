import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FrontThreads } from '../../src/serve/front/front-threads.ts';
import { freshDirectory } from '../support/binary.ts';
import { frontThreads } from '../support/front-threads.ts';
import { load } from '../support/load-config.ts';

test('a front-end thread that fails stops the process, and the log has the reason', async () => {
  const file = join(freshDirectory(), 'broken.mjs');
  writeFileSync(file, "throw new Error('the thread is broken');");
  const lines: unknown[] = [];
  const log = { error: (...line: unknown[]) => void lines.push(line) };
  const reason = await new Promise<string>((fatal) => {
    const front = new FrontThreads(
      { config: load(frontThreads(1)), workerFile: () => file, log, fatal },
      { host: '127.0.0.1', port: 1, dispatch: () => ({ status: 200 }) },
    );
    onTestFinished(() => front.close());
  });
  expect(reason).toBe('a front-end thread has ended');
  expect(lines).toEqual([
    ['a front-end thread has ended: stopping', { thread: 1, reason: expect.stringContaining('broken') }],
  ]);
});

test('no front-end thread is started if there is no shared listener', async () => {
  const workerFile = () => {
    throw new Error('a thread is started');
  };
  const front = new FrontThreads(
    { config: load(frontThreads(3)), workerFile, log: { error() {} }, fatal() {} },
    undefined,
  );
  expect(front.count).toBe(0);
  await front.close();
});
