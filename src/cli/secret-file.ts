import { UsageError } from '../flags.ts';
import type { Terminal } from '../terminal.ts';

/** The first line of the file that a flag names, `-` for standard input. @throws {UsageError} when it cannot be read */
export function readSecretFile(flag: string, path: string, terminal: Terminal): string {
  try {
    return terminal.readFile(path).split(/\r?\n/, 1)[0] ?? '';
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`Cannot read --${flag} ${path}: ${why}`);
  }
}
