import { commonPassword, isCommonPassword, passwordFault } from '../../accounts/password-rules.ts';
import type { FirstCredentials, Preparation } from '../../accounts/prepare.ts';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/options.ts';
import { readSecretFile } from '../../cli/secret-file.ts';
import { isEmail } from '../../contract/names.ts';

/** @throws {UsageError} for an e-mail address or a password that cannot be used */
export async function readAdministrator(
  given: Arguments,
  terminal: Terminal,
): Promise<Pick<Preparation, 'adminEmail' | 'adminPassword'>> {
  const adminEmail = readEmail(given.value('admin-email')!);
  const adminPassword = await readPassword('admin-password-file', given, adminEmail, terminal);
  return { adminEmail, ...(adminPassword !== undefined && { adminPassword }) };
}

/** Reads an e-mail address. Detects only typing errors, because only a mail server knows which addresses exist. */
function readEmail(email: string): string {
  if (email.length > 254 || !isEmail(email) || /[<>,;"]/.test(email)) {
    throw new UsageError(`Cannot use --admin-email ${email}: must be one address, such as you@example.com`);
  }
  return email;
}

/**
 * Reads the password in the first line of the file that an option names.
 * @param email of the user who gets the password
 * @throws {UsageError} when it cannot be read, or cannot be the user's password
 */
export async function readPassword(
  option: string,
  given: Arguments,
  email: string,
  terminal: Terminal,
): Promise<string | undefined> {
  const path = given.value(option);
  if (path === undefined) return undefined;
  const password = readSecretFile(option, path, terminal);
  const fault = await findPasswordFault(password, email);
  if (fault === undefined) return password;
  throw new UsageError(`Cannot use the file that --${option} names: the password in its first line ${fault}`);
}

async function findPasswordFault(password: string, email: string): Promise<string | undefined> {
  return passwordFault(password, email) ?? ((await isCommonPassword(password)) ? commonPassword : undefined);
}

/** @param data the prepared data directory, if any */
export function credentialsText(made: FirstCredentials, data?: string): string {
  return `The store is prepared${data === undefined ? '' : ` in ${data}`}. These credentials are shown once; keep them in a safe place.
A generated password has to be replaced at the first sign-in.

  Administrator   ${made.adminEmail}
  Password        ${made.adminPassword}

  Client id       ${made.clientId}
  Client secret   ${made.clientSecret}

`;
}
