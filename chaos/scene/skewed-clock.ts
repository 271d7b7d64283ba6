import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../run-command.ts';

/** Compiles a library that changes the time of day of each process that preloads it. @returns the library's path */
export async function buildClock(folder: string): Promise<string> {
  const library = join(folder, 'clock.so');
  await runCommand('cc', ['-shared', '-fPIC', '-O2', '-o', library, join(import.meta.dirname, 'clock.c')]);
  return library;
}

/** The time of day of one node or PostgreSQL server. It can differ from the machine's time, and jump during a run. */
export class SkewedClock {
  readonly #file: string;
  readonly #library: string;
  #aheadMs = 0;

  constructor(library: string, file: string) {
    this.#library = library;
    this.#file = file;
    this.aheadMs = 0;
  }

  /** Environment for starting a node. */
  get env(): Record<string, string> {
    return { LD_PRELOAD: this.#library, CHAOS_CLOCK: this.#file };
  }

  /** Command prefix for starting another program with this clock. */
  get prefix(): string[] {
    return ['env', ...Object.entries(this.env).map(([name, value]) => `${name}=${value}`)];
  }

  /** Lead over the machine's clock in ms. Negative if this clock is behind. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  set aheadMs(ms: number) {
    const nanoseconds = Buffer.alloc(8);
    nanoseconds.writeBigInt64LE(BigInt(ms) * 1_000_000n);
    // The file is changed in place, because running processes have mapped it.
    const file = openSync(this.#file, constants.O_CREAT | constants.O_WRONLY);
    writeSync(file, nanoseconds);
    closeSync(file);
    this.#aheadMs = ms;
  }
}
