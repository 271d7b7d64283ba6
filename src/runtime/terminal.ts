/** The parts of the process that a command may use. */
export interface Terminal {
  /** Writes to standard output, as is. */
  readonly out: (text: string) => void;
  /** Writes to standard error, as is. */
  readonly err: (text: string) => void;
  /** Whether a person reads standard error. */
  readonly interactive: boolean;
  /** Whether standard output is a terminal. */
  readonly outIsTerminal?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file's text; `-` is standard input. Throws as `readTextFile` does. */
  readonly readFile: (path: string) => string;
}
