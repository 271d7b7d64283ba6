import { writeSync } from 'node:fs';
import type { Journal } from './journal.ts';

/** Exit codes of a run: all checks passed, a check found a violation, or the run ended early or failed. */
export const exitCodes = { held: 0, violated: 1, incomplete: 2 } as const;

const failures = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * Determines the exit code of this process and prints its summary. This works however the process ends: on request, by
 * an exception, or because nothing keeps it running. The code is 0 only if the run was completed without a violation.
 */
export class Verdict {
  readonly #journal: Journal;
  #rounds: number | undefined;

  /** @param title first words of the summary */
  constructor(journal: Journal, title: string) {
    this.#journal = journal;
    process.on('exit', () => {
      writeSync(process.stdout.fd, this.#summary(title));
      process.exitCode = this.#code;
    });
    for (const failure of failures) process.on(failure, (error: Error) => this.#end(error.stack ?? failure));
  }

  /** Notes that the run has completed its rounds. */
  complete(rounds: number): void {
    this.#rounds = rounds;
  }

  /** Ends the run when a stream ends. The stream ends when the process at its other end closes it, or has exited. */
  endWith(stream: NodeJS.ReadStream): void {
    stream.resume().once('end', () => this.#end('on request'));
  }

  get #code(): number {
    if (this.#journal.violations.length > 0) return exitCodes.violated;
    return this.#rounds === undefined ? exitCodes.incomplete : exitCodes.held;
  }

  #end(why: string): void {
    this.#journal.note(`ended early: ${why}`);
    process.exit();
  }

  #summary(title: string): string {
    const { counts, violations } = this.#journal;
    const rounds = this.#rounds === undefined ? 'incomplete' : `${this.#rounds} rounds`;
    return [
      `${title}, ${rounds}, logs in ${this.#journal.folder}`,
      ...[...counts].sort().map(([name, count]) => `  ${name.padEnd(50)} ${count}`),
      `${violations.length} violations`,
      ...violations.map((text) => `  ${text}`),
      '',
    ].join('\n');
  }
}
