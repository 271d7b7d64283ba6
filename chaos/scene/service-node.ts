import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, cpSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { patienceMs } from '../../test/support/patience.ts';
import type { Journal } from '../journal.ts';
import { at, getAddress, type Place } from './network.ts';
import { SkewedClock } from './skewed-clock.ts';

export interface ServiceNodeOptions {
  /** Folder for the data directory and the log of the node. */
  readonly folder: string;
  readonly binary: string;
  readonly args: readonly string[];
  readonly journal: Journal;
  /** Library from `buildClock`. */
  readonly clockLibrary: string;
}

/** A node: a restartable process of the service, with a data directory and a network namespace. */
export class ServiceNode {
  readonly name: Place;
  readonly address: string;
  readonly http: string;
  readonly grpc: string;
  readonly metrics: string;
  readonly data: string;
  /** Path of the file with the complete standard error. */
  readonly log: string;
  readonly clock: SkewedClock;
  readonly #folder: string;
  readonly #binary: string;
  readonly #args: readonly string[];
  readonly #journal: Journal;
  #child: ChildProcess | undefined;
  #ended: Promise<number | string> = Promise.resolve(0);
  #isFrozen = false;

  constructor(name: Place, { folder, binary, args, journal, clockLibrary }: ServiceNodeOptions) {
    this.name = name;
    this.address = getAddress(name);
    this.http = `${this.address}:8080`;
    this.grpc = `${this.address}:8081`;
    this.metrics = `${this.address}:8082`;
    this.clock = new SkewedClock(clockLibrary, join(folder, `${name}.clock`));
    this.#folder = folder;
    this.data = join(folder, name, 'data');
    this.log = join(folder, `${name}.log`);
    this.#binary = binary;
    this.#args = args;
    this.#journal = journal;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the process, and waits until it is ready. @throws {Error} if it exits first, or is not ready in time */
  async start(more: readonly string[] = []): Promise<void> {
    const listen = ['--listen', this.http, '--grpc-listen', this.grpc, '--metrics-listen', this.metrics];
    const args = ['serve', '--data', this.data, ...listen, ...this.#args, ...more];
    const [command, ...before] = at(this.name) as [string, ...string[]];
    const log = openSync(this.log, 'a');
    const child = spawn(command, [...before, this.#binary, ...args], {
      cwd: this.#folder,
      env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'] ?? '/tmp', ...this.clock.env },
      stdio: ['ignore', 'pipe', log],
    });
    closeSync(log);
    let isReady = false;
    this.#child = child;
    this.#ended = new Promise((ended) => {
      child.once('close', (code, signal) => {
        if (this.#child === child) {
          this.#child = undefined;
          if (isReady) this.#journal.violation(`${this.name} ended by itself: ${signal ?? `code ${code}`}`);
        }
        ended(signal ?? code ?? 1);
      });
    });
    await this.#ready(child);
    isReady = true;
  }

  /** Returns why the node cannot count or manage; `undefined` if it can. */
  async whyNot(ability: 'counting' | 'managing'): Promise<string | undefined> {
    try {
      const signal = AbortSignal.timeout(2_000);
      const response = await fetch(`http://${this.http}/readyz?for=${ability}`, { signal, keepalive: false });
      const { reason } = (await response.json()) as { reason: string };
      return response.status === 200 ? undefined : `${response.status} ${reason}`;
    } catch (error) {
      return String(error);
    }
  }

  /** Stops the process. @returns its exit code, or the signal that ended it */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | string> {
    const child = this.#child;
    if (child === undefined) return 0;
    this.#child = undefined;
    this.#isFrozen = false;
    child.kill('SIGCONT');
    child.kill(signal);
    return this.#ended;
  }

  /** Freezes the process. Its connections stay open, but get no responses. */
  freeze(): void {
    this.#isFrozen = this.#child?.kill('SIGSTOP') ?? false;
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
    this.#isFrozen = false;
  }

  /** Copies the data directory to another place. The process must not be running. */
  copyData(to: string): void {
    rmSync(to, { recursive: true, force: true });
    cpSync(this.data, to, { recursive: true });
  }

  replaceData(from: string): void {
    rmSync(this.data, { recursive: true, force: true });
    cpSync(from, this.data, { recursive: true });
  }

  #ready(child: ChildProcess): Promise<void> {
    return new Promise((ready, failed) => {
      const fail = (why: string) => failed(new Error(`${this.name} ${why}: see ${this.log}`));
      const timer = setTimeout(() => fail(`was not ready within ${patienceMs} ms`), patienceMs);
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        if (!text.includes(' ready http=')) return;
        clearTimeout(timer);
        ready();
      });
      child.once('close', () => {
        clearTimeout(timer);
        fail('ended before it was ready');
      });
    });
  }
}
