import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { openDirectory } from '../../accounts/directory.ts';
import { hashPassword, newPassword } from '../../accounts/passwords.ts';
import { checkPrepared, openPrepared } from '../../accounts/prepare.ts';
import { EmbeddedAccountStore } from '../../accounts/store/embedded.ts';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { Failure } from '../../cli/failure.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Config } from '../../serve/config/config.ts';
import { applyReset, askForPassword, type PasswordRequest } from '../../serve/password-reset.ts';
import { postgresFailure, withPostgresAccounts } from '../../serve/postgres-accounts.ts';
import type { AccountTables } from '../../storage/lmdb/accounts.ts';
import { checkLayouts } from '../../storage/lmdb/layout.ts';
import { isLocked, lockDataDirectory, waitUntilSharable } from '../../storage/lmdb/lock.ts';
import { readPassword } from './administrator.ts';
import { readConfig } from './server-options.ts';

/**
 * Resets a password. The records of failed sign-ins are deleted, so that the new password is accepted immediately.
 * @throws {UsageError} for wrong options or a password that cannot be used
 * @throws {Error} when the data directory is not prepared or has no such user, or its server does not respond
 */
export async function resetPassword(given: Arguments, terminal: Terminal): Promise<number> {
  const email = given.value('email')!;
  const chosen = await readPassword('password-file', given, email, terminal);
  const config = readConfig(given, terminal);
  const password = chosen ?? newPassword(randomBytes);
  const passwordHash = await hashPassword(password, randomBytes);
  const removeFactors = given.has('remove-second-factors');
  const request = { email, passwordHash, isTemporary: chosen === undefined, removeFactors };
  if (config.postgres === undefined) await resetOn(config.data, request);
  else await resetIn(config, request);
  const shown = chosen === undefined ? { email, password } : { email };
  terminal.out(given.has('json') ? `${JSON.stringify(shown)}\n` : formatCredentials(shown));
  return 0;
}

async function resetOn(data: string, request: PasswordRequest): Promise<void> {
  checkPrepared(data);
  if (isLocked(data)) {
    await waitUntilSharable(data);
    checkLayouts(data);
    return askForPassword(data, request, { clock: systemClock, randomBytes, pause });
  }
  const lock = lockDataDirectory(data);
  try {
    const accounts = await openPrepared(data);
    if (accounts === undefined) throw new Failure('notFound', `Cannot use ${data}: it is not prepared`);
    await setPassword(accounts, data, request).finally(() => accounts.lmdb.close());
  } finally {
    lock.release();
  }
}

async function setPassword(accounts: AccountTables, data: string, request: PasswordRequest) {
  let failure: unknown;
  const health = {
    ready: true,
    failed(error: unknown) {
      failure = error;
    },
  };
  const accountStore = new EmbeddedAccountStore(accounts, health);
  const directory = openDirectory(accountStore, { clock: systemClock, randomBytes });
  try {
    await applyReset({ accountStore, directory }, data, request);
  } catch (error) {
    throw failure ?? error; // The store's own message has more detail.
  }
}

function resetIn(config: Config, request: PasswordRequest): Promise<void> {
  return withPostgresAccounts(config, async (opened) => {
    try {
      await applyReset(opened, 'PostgreSQL', request);
    } catch (error) {
      throw postgresFailure(error, opened);
    }
  });
}

function formatCredentials({ email, password }: { email: string; password?: string }): string {
  const shown =
    password === undefined
      ? ''
      : ` The password is shown once, and has to be replaced at the next sign-in.\n\n  Password        ${password}\n`;
  return `${email} has a new password, and all of their sessions have ended.${shown}\n`;
}
