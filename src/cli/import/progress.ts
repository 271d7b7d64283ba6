import type { Context } from '../context.ts';

/** Interval between reports, ms: a terminal rewrites one line, a log gets a line each time. */
const everyMs = { terminal: 100, log: 5000 };

const mebibyte = 2 ** 20;

/** Reports on standard error how much of a source is done. */
export class Progress {
  readonly #context: Context;
  readonly #words: string;
  readonly #total: number;
  #reportedAt: number;
  #width = 0;

  /** @param words what is being done @param total in bytes */
  constructor(context: Context, words: string, total: number) {
    this.#context = context;
    this.#words = words;
    this.#total = total;
    // Short work adds no line to a log.
    this.#reportedAt = context.interactive ? Number.NEGATIVE_INFINITY : context.clock.monotonic();
  }

  /** @param done in bytes */
  report(done: number): void {
    const { interactive, clock, err } = this.#context;
    const now = clock.monotonic();
    if (now - this.#reportedAt < (interactive ? everyMs.terminal : everyMs.log)) return;
    this.#reportedAt = now;
    const percent = this.#total === 0 ? 100 : Math.floor((100 * done) / this.#total);
    const [part, whole] = [done, this.#total].map((bytes) => Math.round(bytes / mebibyte));
    const line = `${this.#words}: ${part} of ${whole} MiB, ${percent} %`;
    err(interactive ? `\r${line.padEnd(this.#width)}` : `${line}\n`);
    this.#width = interactive ? line.length : 0;
  }

  /** Removes the line. */
  end(): void {
    if (this.#width > 0) this.#context.err(`\r${' '.repeat(this.#width)}\r`);
    this.#width = 0;
  }
}
