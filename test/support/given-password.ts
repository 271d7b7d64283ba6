import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Arguments of `init` with a password, which need not be replaced at the first sign-in, unlike a generated password.
 * @param directory an empty directory for the file
 */
export function givenPassword(directory: string): readonly string[] {
  const path = join(directory, 'password');
  writeFileSync(path, `${randomBytes(12).toString('hex')}\n`, { mode: 0o600 });
  return ['--admin-password-file', path];
}
