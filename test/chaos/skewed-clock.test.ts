import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { buildClock, SkewedClock } from '../../chaos/scene/skewed-clock.ts';
import { needing } from '../support/needing.ts';
import { root } from '../support/sources.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const { it } = needing('g++');

/** Program that answers each request with its time of day and the duration of a 50 ms wait. */
const program = `
  const cell = new Int32Array(new SharedArrayBuffer(4));
  process.stdin.on('data', () => {
    const began = performance.now();
    Atomics.wait(cell, 0, 0, 50);
    process.stdout.write(JSON.stringify([Date.now(), performance.now() - began]));
  });`;

async function ask(child: ChildProcess): Promise<{ readonly aheadMs: number; readonly tookMs: number }> {
  const answered = once(child.stdout!, 'data');
  child.stdin!.write('?');
  const [now, tookMs] = JSON.parse(String(await answered)) as [number, number];
  return { aheadMs: now - Date.now(), tookMs };
}

it('a skewed clock changes the time of day of a running process, but not the duration of its waits', async () => {
  const folder = temporaryDirectory();
  const clock = new SkewedClock(await buildClock(folder), join(folder, 'clock'));
  const env = { ...process.env, ...clock.env };
  const bun = join(root, 'node_modules/.bin/bun');
  const child = spawn(bun, ['-e', program], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  for (const aheadMs of [0, 60_000, -60_000, 0]) {
    clock.aheadMs = aheadMs;
    const seen = await ask(child);
    expect(Math.abs(seen.aheadMs - aheadMs)).toBeLessThan(30_000);
    expect(seen.tookMs).toBeLessThan(30_000);
  }
});
