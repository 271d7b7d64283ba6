import { readFileSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeFileError, findFileReason } from '../contract/file-errors.ts';

/**
 * Reads a text file without its byte order mark, which editors on Windows add.
 * @param file a path, or 0 for standard input
 * @throws {Error} as `fs.readFileSync` does, and with the code `UTF16` for UTF-16
 */
export function readTextFile(file: string | 0): string {
  const bytes = readFileSync(file);
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw Object.assign(new Error(findFileReason({ code: 'UTF16' })), { code: 'UTF16' });
  }
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

/**
 * The file status of a path; `undefined` if the path does not exist.
 * @throws {Error} if this user has no access. In this case, the path might exist
 */
export function findStatus(path: string): Stats | undefined {
  return readable(path, () => {
    try {
      return statSync(path, { throwIfNoEntry: false });
    } catch (error) {
      // Bun throws this error if a directory in the path is a file. Node returns undefined.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
      throw error;
    }
  });
}

/** @throws {Error} as `findStatus` does */
export function isPresent(path: string): boolean {
  return findStatus(path) !== undefined;
}

/** Explains the errors of the file system that reading a path causes. @throws {Error} with the path and the reason */
export function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (findFileReason(error) === undefined) throw error;
    throw new Error(`Cannot read ${path}: ${explainFileError(error, path)}`, { cause: error });
  }
}

/** Describes an error of the file system, for people. If permission is denied, names the owner of `path`. */
export function explainFileError(error: unknown, path: string): string {
  return isDenied(error) ? permissionDenied(path) : describeFileError(error);
}

/** Runs `write`, and explains its file system errors. @throws {Error} with the path and the remedy */
export function writable<T>(path: string, remedy: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw new Error(`Cannot write ${path}: ${explainFileError(error, dirname(path))}; ${remedy}`, { cause: error });
  }
}

/** Creates a file that only its owner can read. @throws {Error} if the file exists, or cannot be written */
export function createFile(path: string, text: string): void {
  writable(path, 'name another file with --out', () => writeFileSync(path, text, { flag: 'wx', mode: 0o600 }));
}

export function isDenied(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Explains why a path is not accessible. The text contains the owner of the path or, if the path is not visible, of the
 * deepest visible directory.
 */
export function permissionDenied(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    const found = seen(at);
    if (found !== undefined)
      return `permission denied (${at === path ? 'it' : at} belongs to ${findUserName(found.uid)})`;
    if (at === dirname(at)) return 'permission denied';
  }
}

function seen(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Returns the name of a user. Returns the user id for a user from another source, such as LDAP. */
function findUserName(uid: number): string {
  const users = seen('/etc/passwd') && readFileSync('/etc/passwd', 'utf8');
  return new RegExp(`^([^:\n]+):[^:\n]*:${uid}:`, 'm').exec(users ?? '')?.[1] ?? `user ${uid}`;
}
