import type { Terminal } from '../cli/terminal.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Done } from '../storage/backup/pace.ts';

const barWidth = 30;

/** How often it is told, ms: on a terminal the line is rewritten, elsewhere each is one more in a log. */
const everyMs = { terminal: 100, log: 5000 };

/** Says on standard error how far a long work is: a bar on a terminal, a line every few seconds elsewhere. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #words: string;
  #toldAt: number;
  #width = 0;

  /** @param words what is being done */
  constructor(terminal: Terminal, clock: Pick<Clock, 'monotonic'>, words: string) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#words = words;
    // A work that is done soon leaves no line in a log.
    this.#toldAt = terminal.interactive ? Number.NEGATIVE_INFINITY : clock.monotonic();
  }

  tell(done: Done): void {
    const { interactive } = this.#terminal;
    const now = this.#clock.monotonic();
    if (now - this.#toldAt < (interactive ? everyMs.terminal : everyMs.log)) return;
    this.#toldAt = now;
    if (interactive) this.#draw(`${this.#words}${barOf(done)} ${amountOf(done)}`);
    else this.#terminal.err(`${this.#words}: ${amountOf(done)}${shareOf(done)}\n`);
  }

  /** Takes the bar away. */
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
