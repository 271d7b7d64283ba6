import type { Done } from '../backup/pace.ts';
import type { Clock } from '../clock.ts';
import type { Terminal } from '../terminal.ts';

const barWidth = 30;
const drawEveryMs = 100;

/** A bar on a terminal that says how far a long work is; nothing where no person reads it. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #words: string;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #width = 0;

  /** @param words what is being done */
  constructor(terminal: Terminal, clock: Pick<Clock, 'monotonic'>, words: string) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#words = words;
  }

  tell({ done, total }: Done): void {
    const now = this.#clock.monotonic();
    if (!this.#terminal.interactive || now - this.#drawnAt < drawEveryMs) return;
    this.#drawnAt = now;
    const part = Math.min(1, total === 0 ? 0 : done / total);
    const filled = Math.round(part * barWidth);
    const bar =
      total === 0
        ? ''
        : ` [${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${Math.floor(part * 100)} %`;
    this.#draw(`${this.#words}${bar} ${Math.round(done / 2 ** 20)} MiB`);
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
