import { readFileSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * What is at a path; `undefined` when nothing is.
 * @throws {Error} when this user may not look there: the path may have something
 */
export function presenceOf(path: string): Stats | undefined {
  return readable(path, () => statSync(path, { throwIfNoEntry: false }));
}

/** Whether something is at a path. @throws {Error} as `presenceOf` does */
export function isPresent(path: string): boolean {
  return presenceOf(path) !== undefined;
}

/**
 * Reads something at a path.
 * @throws {Error} that names the owner when this user may not read it
 */
export function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw new Error(`Cannot read ${path}: ${permissionDenied(path)}`, { cause: error });
  }
}

/** Whether this user lacks the right to do what failed. */
export function isDenied(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Why a path cannot be used, with the owner of what is in the way: the path itself, or the deepest directory that can be seen. */
export function permissionDenied(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    const found = seen(at);
    if (found !== undefined)
      return `permission denied (${at === path ? 'it' : at} belongs to ${nameOf(found.uid)})`;
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

/** Users of another source than this file, such as LDAP, are shown by their number. */
function nameOf(uid: number): string {
  const users = seen('/etc/passwd') && readFileSync('/etc/passwd', 'utf8');
  return new RegExp(`^([^:\n]+):[^:\n]*:${uid}:`, 'm').exec(users ?? '')?.[1] ?? `user ${uid}`;
}
