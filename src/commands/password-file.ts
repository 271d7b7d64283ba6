import { isCommonPassword } from '../accounts/common-passwords.ts';
import { commonPassword, passwordFault } from '../accounts/password-rules.ts';
import { UsageError } from '../cli/flags.ts';
import { readSecretFile } from '../cli/secret-file.ts';
import type { Terminal } from '../cli/terminal.ts';

/** Whoever has the data directory can guess at the hash without a throttle. */
const shortestPassword = 12;

export interface PasswordFile {
  /** The flag that names it. */
  readonly flag: string;
  readonly path: string | undefined;
  /** Of the user whose password it becomes. */
  readonly email: string;
}

/**
 * The password in the first line of a file; `undefined` without a file.
 * @throws {UsageError} when it cannot be read, or cannot be the user's password
 */
export async function readPassword(
  { flag, path, email }: PasswordFile,
  terminal: Terminal,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const password = readSecretFile(flag, path, terminal);
  const fault = await faultOf(password, email);
  if (fault === undefined) return password;
  throw new UsageError(`Cannot use the file that --${flag} names: the password in its first line ${fault}`);
}

async function faultOf(password: string, email: string): Promise<string | undefined> {
  if ([...password].length < shortestPassword) return `must have at least ${shortestPassword} characters`;
  return passwordFault(password, email) ?? ((await isCommonPassword(password)) ? commonPassword : undefined);
}
