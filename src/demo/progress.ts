import type { Terminal } from '../cli/command.ts';

/** Reports how far the store is filled. */
export interface Progress {
  days(done: number, total: number): void;
  /** Removes what is replaced by the next output. */
  end(): void;
}

/** Days between two lines of plain output. */
const lineDays = 30;

/**
 * Reports progress at once: on a terminal in one line that is rewritten, otherwise in a few lines on standard output.
 * @param quiet standard output is for a program
 */
export function showProgress({ interactive, out, err }: Terminal, quiet: boolean): Progress {
  const text = 'Filling a temporary store with sample data';
  if (interactive) {
    err(`${text} …`);
    return {
      days: (done, total) => err(`\r${text}: ${done} of ${total} days`),
      end: () => err('\r\x1b[K'),
    };
  }
  if (quiet) return { days: () => {}, end: () => {} };
  out(`${text} …\n`);
  return {
    days: (done, total) => {
      if (done % lineDays === 0) out(`${done} of ${total} days\n`);
    },
    end: () => {},
  };
}
