import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';
import { underLock } from './file-lock.ts';
import { jsonOf } from './send.ts';

const sessionSchema = Type.Object({
  /** Address of the token host. */
  authUrl: Type.String(),
  clientId: Type.String(),
  /** Only with `--store`: renews the session. */
  clientSecret: Type.Optional(Type.String()),
  scope: Type.String(),
  accessToken: Type.String(),
  /** When the access token expires, Unix ms. */
  expiresAt: Type.Number(),
  refreshToken: Type.Optional(Type.String()),
});

const storedSchema = Type.Object({
  /** Address of the server of the last sign-in. */
  current: Type.Union([Type.String(), Type.Null()]),
  /** Sessions by the address of their server. */
  servers: Type.Record(Type.String(), sessionSchema),
});

export type StoredSession = Static<typeof sessionSchema>;

export type Stored = Static<typeof storedSchema>;

/** The file with the tokens of this user, which only they may read. */
export interface TokenStore {
  /** Reads the file. @throws {Failure} if it cannot be read or is damaged */
  read(): Stored;
  /** Replaces the file atomically. Call it only within `exclusively`. */
  write(stored: Stored): void;
  /** Does work while no other process changes the file. */
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

/** With another session for a server, or without one. */
export function withSession(stored: Stored, url: string, session: StoredSession | undefined): Stored {
  const others = Object.entries(stored.servers).filter(([known]) => known !== url);
  return {
    ...stored,
    servers: Object.fromEntries(session === undefined ? others : [...others, [url, session]]),
  };
}

/** The specification requires ignoring a relative path. */
function configurationFolder({ env }: Context): string {
  const folder = env['XDG_CONFIG_HOME'] ?? '';
  return isAbsolute(folder) ? folder : join(env['HOME'] || homedir(), '.config');
}

function read(path: string): Stored {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, servers: {} };
    throw new Failure('failed', `Cannot read ${path}: ${(error as Error).message}`);
  }
  const stored = jsonOf(text);
  if (Value.Check(storedSchema, stored)) return stored;
  throw new Failure('failed', `Cannot use ${path}: the file is damaged; remove it, then sign in again`);
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    throw new Failure('failed', `Cannot store tokens in ${folder}: ${(error as Error).message}`);
  }
}

/** The new file is complete and on disk before it replaces the old one. */
function write(path: string, stored: Stored, unique: string): void {
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
    throw new Failure('failed', `Cannot write ${path}: ${(error as Error).message}`);
  }
}
