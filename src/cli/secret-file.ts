import { findFileReason } from '../contract/file-errors.ts';
import type { Terminal } from './command.ts';
import { UsageError } from './options.ts';

/**
 * Reads the first line of the file that an option names, or of standard input for `-`. A user might give the secret
 * itself instead of its file, so messages do not repeat the value of the option.
 * @throws {UsageError} if it cannot be read
 */
export function readSecretFile(option: string, path: string, terminal: Terminal): string {
  return readSecret(`--${option}`, path, terminal);
}

/** Reads the first line of the file that an option or a variable names. @throws {UsageError} */
export function readSecret(source: string, path: string, terminal: Terminal): string {
  return readNamed(source, path, terminal, 'a file whose first line is the secret').split(/\r?\n/, 1)[0] ?? '';
}

/**
 * Reads the JSON file that an option names, or standard input for `-`.
 * @throws {UsageError} if it cannot be read, or is not JSON
 */
export function readJsonFile(option: string, path: string, terminal: Terminal): unknown {
  const text = readNamed(`--${option}`, path, terminal, 'a JSON file');
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`Cannot read the file that --${option} names: it is not JSON`);
  }
}

function readNamed(source: string, path: string, terminal: Terminal, what: string): string {
  try {
    return terminal.readFile(path);
  } catch (error) {
    const why = findFileReason(error) ?? 'it cannot be read';
    throw new UsageError(
      `Cannot read the file that ${source} names: ${why}. Give the name of ${what}, or - for standard input`,
    );
  }
}
