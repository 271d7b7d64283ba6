import { readFileSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Reads a text file without its byte order mark, which editors on Windows add.
 * @param file a path, or 0 for standard input
 * @throws {Error} as `fs.readFileSync` does, and with the code `UTF16` for UTF-16
 */
export function readTextFile(file: string | 0): string {
  const bytes = readFileSync(file);
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw Object.assign(new Error('the file is UTF-16; save it as UTF-8'), { code: 'UTF16' });
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
      // Bun throws if a directory in the path is a file. Node returns undefined.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
      throw error;
    }
  });
}

/** @throws {Error} as `findStatus` does */
export function isPresent(path: string): boolean {
  return findStatus(path) !== undefined;
}

/** @throws {Error} with the owner of the path, if this user has no permission to read the path */
export function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw new Error(`Cannot read ${path}: ${permissionDenied(path)}`, { cause: error });
  }
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
