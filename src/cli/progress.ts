import type { Context } from './context.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs work that a signal such as Ctrl-C can interrupt. */
export async function interruptible<T>(work: (over: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const end = () => over.abort();
  for (const signal of signals) process.on(signal, end);
  try {
    return await work(over.signal);
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}

const barWidth = 30;

/** Interval between reports in ms. A terminal overwrites one line. A log gets a new line each time. */
const everyMs = { terminal: 100, log: 5000 };

interface ProgressState {
  readonly done: number;
  /** 0 if unknown. */
  readonly total: number;
  /** The unit; bytes by default. */
  readonly unit?: string;
}

/**
 * Reports progress on standard error. A terminal shows one line with a bar; a log gets a line every few seconds.
 * Finished work shows 100 %, and its result follows below. A failure removes the bar, so that the error stands alone.
 */
export class Progress {
  readonly #terminal: Pick<Context, 'interactive' | 'err'>;
  readonly #clock: Pick<Context['clock'], 'monotonic'>;
  readonly #words: string;
  #reportedAt: number;
  #latest: ProgressState | undefined;
  #isShown = false;
  #width = 0;

  /** @param words description of the work */
  constructor(
    terminal: Pick<Context, 'interactive' | 'err'>,
    clock: Pick<Context['clock'], 'monotonic'>,
    words: string,
  ) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#words = words;
    // A log gets its first line after one interval, so that short work logs nothing.
    this.#reportedAt = terminal.interactive ? Number.NEGATIVE_INFINITY : clock.monotonic();
  }

  report(done: ProgressState): void {
    const { interactive } = this.#terminal;
    const now = this.#clock.monotonic();
    this.#latest = done;
    if (now - this.#reportedAt < (interactive ? everyMs.terminal : everyMs.log)) return;
    this.#reportedAt = now;
    this.#show(done);
  }

  /** Shows 100 %, if progress was shown before. Call this once the work is done, and before its result is printed. */
  complete(): void {
    if (!this.#isShown || this.#latest === undefined) return;
    const { done, total, unit } = this.#latest;
    const all = Math.max(done, total);
    this.#show({ done: all, total: Math.max(1, all), ...(unit && { unit }) });
    if (this.#terminal.interactive) this.#terminal.err('\n');
    this.#width = 0;
  }

  /** Removes the bar of unfinished work. */
  end(): void {
    if (this.#width > 0) this.#terminal.err(`\r${' '.repeat(this.#width)}\r`);
    this.#width = 0;
  }

  #show(done: ProgressState): void {
    this.#isShown = true;
    if (this.#terminal.interactive) this.#draw(`${this.#words}${formatBar(done)} ${formatAmount(done)}`);
    else this.#terminal.err(`${this.#words}: ${formatAmount(done)}${formatShare(done)}\n`);
  }

  #draw(line: string): void {
    this.#terminal.err(`\r${line.padEnd(this.#width)}`);
    this.#width = Math.max(this.#width, line.length);
  }
}

function computeShare({ done, total }: ProgressState): number {
  return Math.min(1, done / total);
}

function formatBar(done: ProgressState): string {
  if (done.total === 0) return '';
  const filled = Math.round(computeShare(done) * barWidth);
  return ` [${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${Math.floor(computeShare(done) * 100)} %`;
}

function formatShare(done: ProgressState): string {
  return done.total === 0 ? '' : `, ${Math.floor(computeShare(done) * 100)} %`;
}

function formatAmount({ done, unit }: ProgressState): string {
  return unit === undefined ? `${Math.round(done / 2 ** 20)} MiB` : `${done} ${unit}`;
}
