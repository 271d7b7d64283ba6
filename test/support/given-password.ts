import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns arguments of `init` that set a password. Unlike a generated password, it need not be replaced at sign-in.
 * @param directory an empty directory for the password file
 */
export function givenPassword(directory: string): readonly string[] {
  const path = join(directory, 'password');
  writeFileSync(path, `${randomBytes(12).toString('hex')}\n`, { mode: 0o600 });
  return ['--admin-password-file', path];
}
