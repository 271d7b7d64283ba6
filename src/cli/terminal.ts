/** The parts of the process available to commands. */
export interface Terminal {
  /** Writes to standard output, unchanged. */
  readonly out: (text: string) => void;
  /** Writes to standard error, unchanged. */
  readonly err: (text: string) => void;
  /** Whether a person reads standard error. */
  readonly interactive: boolean;
  /** Whether standard output is a terminal. */
  readonly outIsTerminal?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file; `-` is standard input. Throws as `readTextFile` does. */
  readonly readFile: (path: string) => string;
}
