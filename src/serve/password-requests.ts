/*
 * A running server has the users in memory, so `admin reset-password` beside it asks the server. It puts a file into the data
 * directory, which only the server's user can do, and the server puts the answer beside it. The file has the hash of the password only.
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
import { isPasswordHash } from '../accounts/passwords.ts';
import { Failure } from '../cli/failure.ts';
import type { Clock } from '../runtime/clock.ts';

const requestSchema = Type.Object({
  email: Type.String({ maxLength: 1024 }),
  passwordHash: Type.String({ maxLength: 512 }),
  /** Whether the user has to choose another at the next sign-in. */
  isTemporary: Type.Boolean(),
});

/** Who gets another password. */
export type PasswordRequest = Static<typeof requestSchema>;

const answerSchema = Type.Object({
  /** Why it was not done, for people; empty when it was. */
  fault: Type.String(),
  isUnknownUser: Type.Boolean(),
});

type Answer = Static<typeof answerSchema>;

const name = /^reset-password\.([0-9a-f]{32})\.(request|taken|answer)(?:\.tmp)?$/;
const mostBytes = 4096;
const lookEveryMs = 100;

/** How long the command waits for a server to take its request, and then for the answer, ms. */
const waitMs = { taken: 10_000, answered: 30_000 };

export interface AskDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly randomBytes: (length: number) => Buffer;
  readonly pause: (ms: number) => Promise<unknown>;
}

/**
 * Asks the server that uses a data directory for another password.
 * @throws {Failure} with the server's reason, or because no server answers: then nothing has changed
 */
export async function askForPassword(data: string, request: PasswordRequest, deps: AskDeps): Promise<void> {
  const path = (kind: string) => join(data, `reset-password.${id}.${kind}`);
  const id = deps.randomBytes(16).toString('hex');
  write(data, path('request'), request);
  try {
    if (!(await appears(path('answer'), waitMs.taken, deps)) && withdraw(path('request')))
      throw new Failure('unavailable', `The server that uses ${data} does not answer: stop it first`);
    if (!(await appears(path('answer'), waitMs.answered, deps)))
      throw new Failure(
        'unavailable',
        `The server that uses ${data} has taken the request and does not answer; see its log`,
      );
    const answer = read(path('answer'));
    if (!Value.Check(answerSchema, answer)) throw new Error('The answer of the server is malformed');
    if (answer.fault !== '') throw new Failure(answer.isUnknownUser ? 'notFound' : 'failed', answer.fault);
  } finally {
    for (const kind of ['request', 'answer']) rmSync(path(kind), { force: true });
  }
}

/**
 * Does what has been asked for since the last call.
 * @param reset gives a user another password
 */
export async function answerPasswordRequests(
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
      continue; // It was withdrawn.
    }
    try {
      write(data, path('answer'), await answerTo(path('taken'), reset));
    } finally {
      rmSync(path('taken'), { recursive: true, force: true });
    }
  }
}

/** Removes requests and answers that a killed process left behind: nothing waits for them any more. */
export function forgetPasswordRequests(data: string): void {
  for (const file of readdirSync(data)) if (name.test(file)) rmSync(join(data, file), { force: true });
}

async function answerTo(file: string, reset: (request: PasswordRequest) => Promise<void>): Promise<Answer> {
  try {
    const request = read(file);
    if (!Value.Check(requestSchema, request) || !isPasswordHash(request.passwordHash))
      throw new Error('Cannot reset the password: the request is malformed, or of another version');
    await reset(request);
    return { fault: '', isUnknownUser: false };
  } catch (error) {
    const isUnknownUser = error instanceof Failure && error.kind === 'notFound';
    return { fault: (error as Error).message || 'it failed', isUnknownUser };
  }
}

/** Root gives what it writes to the owner of the directory, who is to read it. */
function write(data: string, path: string, value: object): void {
  const made = `${path}.tmp`;
  writeFileSync(made, JSON.stringify(value), { mode: 0o600, flag: 'wx' });
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(data);
    chownSync(made, uid, gid);
  }
  renameSync(made, path);
}

/** What a regular file holds as JSON. A link is not followed. */
function read(path: string): unknown {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.size > mostBytes)
      throw new Error('Cannot reset the password: the request is malformed');
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
    await pause(lookEveryMs);
  }
}

/** @returns false when the server has it already */
function withdraw(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}
