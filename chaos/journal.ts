import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** Records the events and violations of a run. */
export class Journal {
  readonly folder: string;
  readonly #file: string;
  readonly #began = performance.now();
  readonly #violations: string[] = [];
  readonly #counts = new Map<string, number>();
  #round = 0;

  /** @param folder folder that gets the file `journal.log` */
  constructor(folder: string) {
    this.folder = folder;
    this.#file = join(folder, 'journal.log');
  }

  get violations(): readonly string[] {
    return this.#violations;
  }

  /** The number of occurrences of each counted event. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  beginRound(round: number): void {
    this.#round = round;
  }

  note(text: string): void {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(2);
    const line = `${new Date().toISOString()} ${seconds.padStart(8)} round ${this.#round}: ${text}\n`;
    appendFileSync(this.#file, line);
    process.stderr.write(line);
  }

  /** Records a violation. The run has then failed. */
  violation(text: string): void {
    this.#violations.push(`round ${this.#round}: ${text}`);
    this.note(`VIOLATION ${text}`);
  }

  count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}
