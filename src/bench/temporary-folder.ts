import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../cli/flags.ts';

const tmpfs = 0x01021994;

interface TemporaryFolder {
  /** Absolute. */
  readonly path: string;
  /** Whether it is in memory, where a flush costs nothing. */
  readonly isInMemory: boolean;
  remove(): void;
}

/**
 * Creates a folder that is removed at the latest when the process exits.
 * @param wanted its path, which must not exist; by default a new folder in the current directory
 * @throws {UsageError} if the path exists
 * @throws {Error} if it cannot be created
 */
export function makeTemporaryFolder(wanted: string | undefined): TemporaryFolder {
  const path = make(wanted);
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', remove);
  return { path, isInMemory: statfsSync(path).type === tmpfs, remove };
}

function make(wanted: string | undefined): string {
  const path = wanted === undefined ? process.cwd() : resolve(wanted);
  if (wanted !== undefined && existsSync(path))
    throw new UsageError(
      `Cannot use --data ${path}: it exists, and the folder is removed afterwards. Name a new one on the disk to measure`,
    );
  try {
    if (wanted === undefined) return mkdtempSync(join(path, 'flagmeter-bench-'));
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch (error) {
    const what = wanted === undefined ? `a folder in ${path}` : path;
    throw new Error(
      `Cannot create ${what} for temporary stores: ${(error as Error).message}. Name another with --data`,
    );
  }
}

/** Checks that a report can be written, before minutes of work. @throws {UsageError} */
export function checkReportFile(path: string): void {
  try {
    const file = resolve(path); // The working directory for an empty path.
    const exists = existsSync(file);
    if (exists && statSync(file).isDirectory()) throw new Error('it is a folder; name a file');
    accessSync(exists ? file : dirname(file), constants.W_OK);
  } catch (error) {
    throw new UsageError(`Cannot use --report ${path}: ${(error as Error).message}`);
  }
}
