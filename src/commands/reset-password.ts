import { randomBytes } from 'node:crypto';
import { type Directory, openDirectory } from '../accounts/directory.ts';
import { hashPassword, newPassword } from '../accounts/passwords.ts';
import { checkPrepared, openPrepared } from '../accounts/prepare.ts';
import { draftUserPatch, userOfEmail } from '../accounts/users.ts';
import { forgetFailures } from '../auth/login-throttle.ts';
import { endSessionsOf } from '../auth/sessions.ts';
import { Failure } from '../cli/failure.ts';
import { systemClock } from '../clock.ts';
import { EmbeddedEngine } from '../engine/embedded.ts';
import type { Engine } from '../engine/engine.ts';
import { readFlags, UsageError } from '../flags.ts';
import type { AccountStore } from '../store/accounts.ts';
import { lockDataDirectory } from '../store/lock.ts';
import type { Terminal } from '../terminal.ts';
import { engineFailure, withEngineAccounts } from './engine-accounts.ts';
import { type EngineSettings, engineSettings } from './engine-connection.ts';
import { readPassword } from './password-file.ts';
import { resetPasswordCommand } from './server-commands.ts';
import { configOf } from './server-flags.ts';

/**
 * Gives a user another password and ends all of their sessions, for a lost administrator's password. The server must be
 * stopped, unless it runs with an engine: it has the users in memory. Failed sign-ins are forgotten, so that the new password is accepted at once.
 * @throws {UsageError} for wrong flags or a password that cannot be used
 * @throws {Error} when the data directory is not prepared, in use, or has no such user
 */
export async function resetPassword(argv: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(argv, resetPasswordCommand.flags);
  const email = flags.get('email');
  if (email === undefined) throw new UsageError('Cannot reset a password without --email');
  const given = readPassword('password-file', flags.get('password-file'), terminal);
  const config = configOf(flags, terminal);
  const password = given ?? newPassword(randomBytes);
  if (config.engine === undefined) await resetOn(config.data, email, password);
  else await resetIn(engineSettings(flags, terminal), email, password);
  const shown = given === undefined ? { email, password } : { email };
  terminal.out(flags.has('json') ? `${JSON.stringify(shown)}\n` : textOf(shown));
  return 0;
}

async function resetOn(data: string, email: string, password: string): Promise<void> {
  checkPrepared(data);
  const lock = lockDataDirectory(data);
  try {
    const accounts = await openPrepared(data);
    if (accounts === undefined) throw new Failure('notFound', `Cannot use ${data}: it is not prepared`);
    await setPassword(accounts, data, email, password).finally(() => accounts.lmdb.close());
  } finally {
    lock.release();
  }
}

async function setPassword(accounts: AccountStore, data: string, email: string, password: string) {
  let failure: unknown;
  const health = {
    ready: true,
    failed(error: unknown) {
      failure = error;
    },
  };
  const engine = new EmbeddedEngine(accounts, health);
  const directory = openDirectory(engine, { clock: systemClock, randomBytes });
  try {
    await draftReset({ engine, directory }, data, email, password);
  } catch (error) {
    throw failure ?? error; // The store's own words say more.
  }
}

/** The nodes may run meanwhile. */
function resetIn(settings: EngineSettings, email: string, password: string): Promise<void> {
  return withEngineAccounts(settings, async (opened) => {
    try {
      await draftReset(opened, 'the engine', email, password);
    } catch (error) {
      throw engineFailure(error, opened);
    }
  });
}

async function draftReset(
  { engine, directory }: { readonly engine: Engine; readonly directory: Directory },
  place: string,
  email: string,
  password: string,
): Promise<void> {
  const user = userOfEmail(directory, email);
  if (user === undefined) {
    const known = `its administrators are ${administratorsOf(directory).join(', ')}`;
    throw new Failure(
      'notFound',
      `Cannot find ${email} in ${place}: no user has this e-mail address; ${known}`,
    );
  }
  const passwordHash = await hashPassword(password, randomBytes);
  await directory.change((draft) => {
    draftUserPatch(draft, user, { passwordHash }, systemClock.now());
    endSessionsOf({ clock: systemClock }, draft, user.id);
  });
  await forgetFailures(engine.throttles);
}

/** Anyone who can write the data directory may know its administrators. */
function administratorsOf({ users }: Directory): string[] {
  return [...users.values()].filter(({ role }) => role === 'Admin').map(({ email }) => email);
}

function textOf({ email, password }: { email: string; password?: string }): string {
  const shown = password === undefined ? '' : ` This one is shown once.\n\n  Password        ${password}\n`;
  return `${email} has another password, and all of their sessions have ended.${shown}\n`;
}
