import { Failure } from '../cli/failure.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { Uploaded } from '../replication/log-snapshots.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { type Done, Interrupted, Pace } from '../storage/backup/pace.ts';

interface LongWork<T> {
  /** What is being done, for the progress bar. */
  readonly words: string;
  /** Whether to yield to a running service. */
  readonly gentle?: boolean;
  /** The state after an interruption, for people. */
  readonly interrupted?: string;
  work(pace: Pace): Promise<T>;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs long work with a progress bar. A signal interrupts it at its next step, so that it can clean up.
 * @throws {Failure} when it was interrupted
 */
export async function longWork<T>(
  terminal: Terminal,
  { words, gentle = false, interrupted = 'nothing was changed', work }: LongWork<T>,
): Promise<T> {
  const over = new AbortController();
  const end = () => over.abort();
  for (const signal of signals) process.on(signal, end);
  const progress = new Progress(terminal, systemClock, words);
  const tell = (done: Done) => progress.report(done);
  try {
    return await work(new Pace({ clock: systemClock, over: over.signal, tell, ...(gentle && { gentle }) }));
  } catch (error) {
    if (error instanceof Interrupted) throw new Failure('interrupted', `Interrupted: ${interrupted}`);
    throw error;
  } finally {
    progress.end();
    for (const signal of signals) process.off(signal, end);
  }
}

const barWidth = 30;

/** Interval between reports, ms: a terminal rewrites one line, a log gets a line each time. */
const everyMs = { terminal: 100, log: 5000 };

/** Reports progress on standard error: a bar on a terminal, a line every few seconds elsewhere. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #words: string;
  #reportedAt: number;
  #width = 0;

  /** @param words description of the work */
  constructor(terminal: Terminal, clock: Pick<Clock, 'monotonic'>, words: string) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#words = words;
    // Short work adds no line to a log.
    this.#reportedAt = terminal.interactive ? Number.NEGATIVE_INFINITY : clock.monotonic();
  }

  report(done: Done): void {
    const { interactive } = this.#terminal;
    const now = this.#clock.monotonic();
    if (now - this.#reportedAt < (interactive ? everyMs.terminal : everyMs.log)) return;
    this.#reportedAt = now;
    if (interactive) this.#draw(`${this.#words}${barOf(done)} ${amountOf(done)}`);
    else this.#terminal.err(`${this.#words}: ${amountOf(done)}${shareOf(done)}\n`);
  }

  /** Removes the bar. */
  end(): void {
    if (this.#width > 0) this.#terminal.err(`\r${' '.repeat(this.#width)}\r`);
    this.#width = 0;
  }

  #draw(line: string): void {
    this.#terminal.err(`\r${line.padEnd(this.#width)}`);
    this.#width = Math.max(this.#width, line.length);
  }
}

function partOf({ done, total }: Done): number {
  return Math.min(1, done / total);
}

function barOf(done: Done): string {
  if (done.total === 0) return '';
  const filled = Math.round(partOf(done) * barWidth);
  return ` [${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${Math.floor(partOf(done) * 100)} %`;
}

function shareOf(done: Done): string {
  return done.total === 0 ? '' : `, ${Math.floor(partOf(done) * 100)} %`;
}

function amountOf({ done, unit }: Done): string {
  return unit === undefined ? `${Math.round(done / 2 ** 20)} MiB` : `${done} ${unit}`;
}

const uploadReportMs = 2000;

/** Reports every few seconds how much usage is uploaded. */
export function uploadProgress({ err }: Terminal): (uploaded: Uploaded) => void {
  let reportedAt = systemClock.monotonic();
  return ({ parts, bytes }) => {
    if (systemClock.monotonic() - reportedAt < uploadReportMs) return;
    reportedAt = systemClock.monotonic();
    err(`usage: ${parts} parts, ${mebibytes(bytes)}, are in PostgreSQL\n`);
  };
}

/** A byte count for people. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
