import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { ReadyDemo } from '../../src/demo/demo.ts';
import { type Exit, freshDirectory, requireBinary } from './binary.ts';
import { freePorts } from './free-ports.ts';

/** A running `flagmeter demo`. */
export interface Demo extends ReadyDemo {
  /** `HOST:PORT` of its HTTP listener. */
  readonly http: string;
  /** Temporary directory of the demo. */
  readonly temp: string;
  readonly pid: number;
  stderr(): string;
  /** Sends a signal, and waits until the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

/** A demo that has not printed its ready line yet. */
export interface StartingDemo {
  readonly temp: string;
  readonly child: ChildProcess;
  readonly exit: Promise<Exit>;
  stderr(): string;
}

const running = new Set<ChildProcess>();

/** Kills all running demos. Call it in `afterAll`. */
export function stopDemos(): void {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
}

/** Starts the process of `flagmeter demo`. @param temp temp directory of the demo; by default a new directory */
export function spawnDemo(
  args: readonly string[] = [],
  temp = freshDirectory(),
  output: readonly string[] = ['--json'],
): StartingDemo {
  const env = { PATH: process.env['PATH'], TMPDIR: temp };
  const child = spawn(requireBinary(), ['demo', ...output, ...args], {
    cwd: freshDirectory(),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exit = new Promise<Exit>((ended) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      ended({ code, signal });
    });
  });
  return { temp, child, exit, stderr: () => errors };
}

/**
 * Starts a demo on free ports, and waits until it is ready.
 * @throws {Error} with its standard error, if it ends before that
 */
export async function startDemo(args: readonly string[] = freePorts, temp?: string): Promise<Demo> {
  const starting = spawnDemo(args, temp);
  const { child, exit, stderr } = starting;
  const line = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', resolve);
    void exit.then(({ code }) => reject(new Error(`the demo ended with code ${code}\n${stderr()}`)));
  });
  const ready = JSON.parse(await line) as ReadyDemo;
  return {
    ...ready,
    http: new URL(ready.url).host,
    temp: starting.temp,
    pid: child.pid!,
    stderr,
    stop(signal = 'SIGINT') {
      child.kill(signal);
      return exit;
    },
  };
}
