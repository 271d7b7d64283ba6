import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestResult } from '../test/summary.ts';
import type { Mutant } from './mutant.ts';
import type { RunRequest } from './vitest-process.ts';

/** Runs of unit tests in a tree, on Bun. All runs share one process. */
export class TestRuns {
  readonly #signal: AbortSignal;
  readonly #report: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #output = '';
  /** The changed source of the previous run. */
  #changed: readonly string[] = [];

  /** @param tree folder with the sources and tests @param signal ends the process */
  constructor(tree: string, signal: AbortSignal) {
    this.#signal = signal;
    this.#report = join(tree, 'outcomes.ndjson');
    const program = join(tree, 'scripts/mutants/vitest-process.ts');
    const child = spawn(join(tree, 'node_modules/.bin/bun'), ['--bun', program], {
      cwd: tree,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true, // Own process group: a signal to the group also ends the workers.
      env: { ...process.env, OUTCOMES: this.#report, TMPDIR: dirname(tree) },
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    this.#ended = new Promise((resolve) => {
      // Node emits `exit` but no `close` if this process has closed the channel.
      child.once('error', () => resolve()).once('exit', () => resolve());
    });
    const end = () => void (child.exitCode === null && process.kill(-child.pid!));
    signal.addEventListener('abort', end);
    this.#ended.then(() => signal.removeEventListener('abort', end));
    this.#child = child;
  }

  /**
   * Runs the tests of some rules.
   * @param changed source that differs from the previous run
   * @returns the results; an empty list if the signal ended the process
   * @throws {Error} if the process ended by itself, with its output
   */
  async run(mutants: readonly Mutant[], changed?: string): Promise<TestResult[]> {
    rmSync(this.#report, { force: true });
    this.#output = '';
    const next = changed === undefined ? [] : [changed];
    const request: RunRequest = {
      files: [...new Set(mutants.map(({ test }) => test))],
      pattern: mutants.map(({ title }) => title.replace(/[^\w ]/g, '\\$&')).join('|'),
      changed: [...this.#changed, ...next],
    };
    this.#changed = next;
    const done = new Promise<void>((resolve) => this.#child.once('message', () => resolve()));
    if (this.#child.connected) this.#child.send(request);
    await Promise.race([done, this.#ended]);
    if (existsSync(this.#report))
      return readFileSync(this.#report, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    if (this.#signal.aborted) return [];
    throw new Error(`Cannot run ${request.files.join(' ')}:\n${this.#output}`);
  }

  /** Ends the process. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended;
  }
}
