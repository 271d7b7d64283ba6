import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { closing } from './binary.ts';
import type { BenchmarkOutput } from './run-benchmarks.ts';

const root = resolve(import.meta.dirname, '../..');

let child: ChildProcess | undefined;

/** Runs a benchmark in the process that the benchmarks of a test file share. @param args arguments of `npm run bench` */
export async function runBenchmark(...args: string[]): Promise<BenchmarkOutput> {
  child ??= startProcess();
  child.send(args);
  const end = new AbortController();
  const { signal } = end;
  try {
    const [output] = await Promise.race([once(child, 'message', { signal }), failure(child, signal)]);
    return output as BenchmarkOutput;
  } finally {
    end.abort();
  }
}

function startProcess(): ChildProcess {
  const program = join(import.meta.dirname, 'run-benchmarks.ts');
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const started = spawn(join(root, 'node_modules/.bin/bun'), [program], { cwd: root, stdio: [...stdio] });
  const ended = once(started, 'exit');
  closing(async () => {
    if (started.connected) started.disconnect();
    await ended;
  });
  ended.then(() => {
    child = undefined;
  });
  return started;
}

async function failure(started: ChildProcess, signal: AbortSignal): Promise<never> {
  const [code, killedBy] = await once(started, 'exit', { signal });
  throw new Error(`The process of the benchmarks ended with ${killedBy ?? `code ${code}`}`);
}
