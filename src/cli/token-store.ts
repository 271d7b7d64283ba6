import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { describeFileError } from '../contract/file-errors.ts';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { parseJson } from './send.ts';

const sessionSchema = Type.Object({
  /** Address of the token host. */
  authUrl: Type.String(),
  clientId: Type.String(),
  /** Stored only with `--store`, to renew the session. */
  clientSecret: Type.Optional(Type.String()),
  scope: Type.String(),
  accessToken: Type.String(),
  /** Expiry of the access token, Unix ms. */
  expiresAt: Type.Number(),
  refreshToken: Type.Optional(Type.String()),
  /** Id of the default application, which `flagmeter use` sets. */
  application: Type.Optional(Type.String()),
});

const storedSchema = Type.Object({
  /** Address of the server of the last sign-in. */
  current: Type.Union([Type.String(), Type.Null()]),
  /** Sessions by the address of their server. */
  servers: Type.Record(Type.String(), sessionSchema),
});

export type StoredSession = Static<typeof sessionSchema>;

type StoredContent = Static<typeof storedSchema>;

/** File with the tokens of the current user. Its mode is 0600. */
export interface TokenStore {
  /** @throws {Failure} if the file cannot be read or is damaged */
  read(): StoredContent;
  /** Writes atomically. Call it only within `exclusively`. */
  write(stored: StoredContent): void;
  /** Runs work while no other process changes the file. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

/** Opens the store in the user's configuration folder (XDG Base Directory Specification). */
export function openTokenStore(context: Context): TokenStore {
  const path = join(configurationFolder(context), 'flagmeter', 'credentials.json');
  return {
    read: () => read(path),
    write: (stored) => write(path, stored, context.randomBytes(8).toString('hex')),
    async exclusively(work) {
      makeFolder(dirname(path));
      return underLock(`${path}.lock`, context, work);
    },
  };
}

/** Replaces or removes the session at a server. The next session keeps the default application of the previous one. */
export function withSession(stored: StoredContent, url: string, session: StoredSession | undefined): StoredContent {
  const others = Object.entries(stored.servers).filter(([known]) => known !== url);
  if (session === undefined) return { ...stored, servers: Object.fromEntries(others) };
  const application = session.application ?? stored.servers[url]?.application;
  const next = { ...session, ...(application !== undefined && { application }) };
  return { ...stored, servers: Object.fromEntries([...others, [url, next]]) };
}

/** Returns the configuration folder. A relative path is ignored, as the specification requires. */
function configurationFolder({ env }: Context): string {
  const folder = env['XDG_CONFIG_HOME'] ?? '';
  return isAbsolute(folder) ? folder : join(env['HOME'] || homedir(), '.config');
}

function read(path: string): StoredContent {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, servers: {} };
    throw new Failure('failed', `Cannot read ${path}: ${describeFileError(error)}`);
  }
  const stored = parseJson(text);
  if (Value.Check(storedSchema, stored)) return stored;
  throw new Failure('failed', `Cannot use ${path}: the file is damaged; remove it, then sign in again`);
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    throw new Failure('failed', `Cannot write ${folder}: ${describeFileError(error)}; ${tokenRemedy}`);
  }
}

const tokenRemedy = 'set XDG_CONFIG_HOME to a directory that this user can write to';

/** Writes a complete new file to disk, and then replaces the old file by it. */
function write(path: string, stored: StoredContent, unique: string): void {
  const fresh = `${path}.${unique}`;
  try {
    const file = openSync(fresh, 'wx', 0o600);
    try {
      writeSync(file, `${JSON.stringify(stored, undefined, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw new Failure('failed', `Cannot write ${path}: ${describeFileError(error)}; ${tokenRemedy}`);
  }
}

/** Minimum age of a stale lock. Work under the lock takes less time. */
const abandonedAfterMs = 120_000;
/** Time limit for acquiring the lock, and the interval between attempts. */
const timeoutMs = 150_000;
const retryEveryMs = 50;

/**
 * Runs work while holding a lock, and takes over the lock of a dead process. The lock is a file that contains its owner
 * from its creation on. This works on network file systems, too.
 * @param path of the lock, in a writable directory
 * @throws {Failure} if another process keeps the lock
 */
export async function underLock<T>(
  path: string,
  context: Pick<Context, 'clock' | 'sleep' | 'randomBytes'>,
  work: () => Promise<T>,
): Promise<T> {
  const owner = `${process.pid}@${hostname()} ${context.randomBytes(8).toString('hex')}`;
  const { clock, sleep } = context;
  const deadline = clock.monotonic() + timeoutMs;
  while (!take(path, owner)) {
    if (removeAbandoned(path, owner, clock.now())) continue;
    if (clock.monotonic() > deadline)
      throw new Failure('unavailable', `Another flagmeter process holds ${path}: stop it first`);
    await sleep(retryEveryMs);
  }
  try {
    return await work();
  } finally {
    if (findOwner(path) === owner) rmSync(path, { force: true });
  }
}

/** Takes the lock by linking a file that is already written, so that no process reads an empty lock. */
function take(path: string, owner: string): boolean {
  const own = sideFile(path, owner);
  writeFileSync(own, owner, { mode: 0o600 });
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Removes a stale lock. Several processes can do so concurrently: none of them removes the lock of the next owner. */
function removeAbandoned(path: string, owner: string, now: number): boolean {
  const seen = findOwner(path);
  if (seen === undefined) return true;
  if (!isAbandoned(path, seen, now)) return false;
  const aside = `${sideFile(path, owner)}.old`;
  try {
    renameSync(path, aside);
    if (findOwner(aside) !== seen) linkSync(aside, path);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  rmSync(aside, { force: true });
  return true;
}

function isAbandoned(path: string, seen: string, now: number): boolean {
  const [, pid, host] = /^(\d+)@(\S*) /.exec(seen) ?? [];
  if (host === hostname() && !isRunning(Number(pid))) return true;
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return since !== undefined && now - since > abandonedAfterMs;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function sideFile(path: string, owner: string): string {
  return `${path}.${owner.split(' ')[1]}`;
}

function findOwner(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
