import { isPassword } from '../accounts/passwords.ts';
import { readSecretFile } from '../cli/secret-file.ts';
import { UsageError } from '../flags.ts';
import type { Terminal } from '../terminal.ts';

const shortestPassword = 12;

/**
 * The password in the first line of the file that a flag names; `undefined` without a file.
 * @throws {UsageError} when it cannot be read, or is not a password
 */
export function readPassword(flag: string, path: string | undefined, terminal: Terminal): string | undefined {
  if (path === undefined) return undefined;
  const password = readSecretFile(flag, path, terminal);
  if ([...password].length < shortestPassword || !isPassword(password)) {
    const must = `its first line must be a password of at least ${shortestPassword} characters and at most 1024 bytes`;
    throw new UsageError(`Cannot use the file that --${flag} names: ${must}`);
  }
  return password;
}
