/*
 * `admin reset-password` asks a running server to reset a password, because the server holds the users in memory. The
 * command writes a request file to the data directory, and the server writes a file with the response. Only the
 * server's user can write there. The request contains the hash of the password, not the password.
 */

import {
  chownSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import type { Directory } from '../accounts/directory.ts';
import { isPasswordHash, temporary } from '../accounts/passwords.ts';
import { removeSecondFactors } from '../accounts/second-factors.ts';
import { allowPassword } from '../accounts/sign-in-policy.ts';
import type { AccountStore } from '../accounts/store/account-store.ts';
import { applyUserPatch, userOfEmail } from '../accounts/users.ts';
import { forgetFailures } from '../auth/factors/login-throttle.ts';
import { endUserSessions } from '../auth/oauth/sessions.ts';
import { Failure } from '../cli/failure.ts';
import { roleIn } from '../contract/roles.ts';
import type { Clock } from '../runtime/clock.ts';

const requestSchema = Type.Object({
  email: Type.String({ maxLength: 1024 }),
  passwordHash: Type.String({ maxLength: 512 }),
  /** True if the password must be replaced at the next sign-in. */
  isTemporary: Type.Boolean(),
  /** True to remove the authenticator app and the passkeys. Requests of earlier releases lack this field. */
  removeFactors: Type.Optional(Type.Boolean()),
});

export type PasswordRequest = Static<typeof requestSchema>;

const responseSchema = Type.Object({
  /** Reason of a failure as a text for people; empty on success. */
  fault: Type.String(),
  isUnknownUser: Type.Boolean(),
});

type ResetResponse = Static<typeof responseSchema>;

const name = /^reset-password\.([0-9a-f]{32})\.(request|taken|answer)(?:\.tmp)?$/;
const maxBytes = 4096;
const pollMs = 100;

/** Timeouts in ms: for a server to take a request, and then for the server to respond. */
const waitMs = { taken: 10_000, answered: 30_000 };

interface AskDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly randomBytes: (length: number) => Buffer;
  readonly pause: (ms: number) => Promise<unknown>;
}

/**
 * Asks the server that uses a data directory to reset a password.
 * @throws {Failure} with the server's reason, or if no server responds. The password is then unchanged
 */
export async function askForPassword(data: string, request: PasswordRequest, deps: AskDeps): Promise<void> {
  const path = (kind: string) => join(data, `reset-password.${id}.${kind}`);
  const id = deps.randomBytes(16).toString('hex');
  write(data, path('request'), request);
  try {
    if (!(await appears(path('answer'), waitMs.taken, deps)) && withdraw(path('request')))
      throw new Failure('unavailable', `The server that uses ${data} does not respond: stop it first`);
    if (!(await appears(path('answer'), waitMs.answered, deps)))
      throw new Failure(
        'unavailable',
        `The server that uses ${data} has taken the request and does not respond; see its log`,
      );
    const response = read(path('answer'));
    if (!Value.Check(responseSchema, response)) throw new Error('The response of the server is malformed');
    if (response.fault !== '') throw new Failure(response.isUnknownUser ? 'notFound' : 'failed', response.fault);
  } finally {
    for (const kind of ['request', 'answer']) rmSync(path(kind), { force: true });
  }
}

export async function handlePasswordRequests(
  data: string,
  reset: (request: PasswordRequest) => Promise<void>,
): Promise<void> {
  for (const file of readdirSync(data)) {
    const [, id, kind] = name.exec(file) ?? [];
    if (kind !== 'request' || file.endsWith('.tmp')) continue;
    const path = (of: string) => join(data, `reset-password.${id}.${of}`);
    try {
      renameSync(path('request'), path('taken'));
    } catch {
      continue; // The command withdrew the request.
    }
    try {
      write(data, path('answer'), await handleRequest(path('taken'), reset));
    } finally {
      rmSync(path('taken'), { recursive: true, force: true });
    }
  }
}

/** Removes request and response files that killed processes have left. */
export function forgetPasswordRequests(data: string): void {
  for (const file of readdirSync(data)) if (name.test(file)) rmSync(join(data, file), { force: true });
}

/**
 * Resets the password, and ends all sessions of the user.
 * @param place where the users are stored, for the error message
 * @throws {Failure} if there is no such user
 */
export async function applyReset(
  { accountStore, directory }: { readonly accountStore: AccountStore; readonly directory: Directory },
  place: string,
  { email, passwordHash, isTemporary, removeFactors }: PasswordRequest,
): Promise<void> {
  const user = userOfEmail(directory, email);
  if (user === undefined) {
    // The message may list administrators, because its reader can write to the data directory.
    const administrators = [...directory.users.values()].filter((each) =>
      each.teams.some((team) => roleIn(each, team) === 'Admin'),
    );
    const known = `its administrators are ${administrators.map((each) => each.email).join(', ')}`;
    throw new Failure('notFound', `Cannot find ${email} in ${place}: no user has this e-mail address; ${known}`);
  }
  const { clock } = directory;
  await directory.change((tx) => {
    const temporaryFields = isTemporary ? temporary(passwordHash) : {};
    applyUserPatch(tx, user, { passwordHash, ...temporaryFields }, clock.now());
    if (removeFactors) removeSecondFactors(tx, user.id);
    endUserSessions({ clock }, tx, user.id);
    allowPassword(tx, user);
  });
  await forgetFailures(accountStore.throttles);
}

async function handleRequest(file: string, reset: (request: PasswordRequest) => Promise<void>): Promise<ResetResponse> {
  try {
    const request = read(file);
    if (!Value.Check(requestSchema, request) || !isPasswordHash(request.passwordHash))
      throw new Error('Cannot reset the password: the request is malformed or from another version');
    await reset(request);
    return { fault: '', isUnknownUser: false };
  } catch (error) {
    const isUnknownUser = error instanceof Failure && error.kind === 'notFound';
    return { fault: (error as Error).message || 'it failed', isUnknownUser };
  }
}

/** Writes a file. If root writes it, the owner of the directory owns the file, so that the server can read it. */
function write(data: string, path: string, value: object): void {
  const temp = `${path}.tmp`;
  writeFileSync(temp, JSON.stringify(value), { mode: 0o600, flag: 'wx' });
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(data);
    chownSync(temp, uid, gid);
  }
  renameSync(temp, path);
}

/** Reads a file. Does not follow a symbolic link. */
function read(path: string): unknown {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.size > maxBytes) throw new Error('Cannot reset the password: the request is malformed');
    return JSON.parse(readFileSync(descriptor, 'utf8'));
  } finally {
    closeSync(descriptor);
  }
}

async function appears(path: string, withinMs: number, { clock, pause }: AskDeps): Promise<boolean> {
  const end = clock.monotonic() + withinMs;
  for (;;) {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return true;
    if (clock.monotonic() >= end) return false;
    await pause(pollMs);
  }
}

/** Withdraws a request. @returns false if the server has already taken it */
function withdraw(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}
