import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';

/** Work under the lock takes no longer; what is older was left behind. */
const abandonedAfterMs = 120_000;
/** How long a process waits for the lock, and between two looks at it. */
const patienceMs = 150_000;
const lookEveryMs = 50;

/**
 * Does work while holding a lock. The lock of a process that died is taken over.
 * The lock is a file that appears with its owner's name in it: that also holds on a network file system.
 * @param path of the lock, in a directory that can be written
 * @throws {Failure} when another process keeps it
 */
export async function underLock<T>(
  path: string,
  context: Pick<Context, 'clock' | 'sleep' | 'randomBytes'>,
  work: () => Promise<T>,
): Promise<T> {
  const owner = `${process.pid}@${hostname()} ${context.randomBytes(8).toString('hex')}`;
  const { clock, sleep } = context;
  const deadline = clock.monotonic() + patienceMs;
  while (!take(path, owner)) {
    if (removeAbandoned(path, owner, clock.now())) continue;
    if (clock.monotonic() > deadline)
      throw new Failure('unavailable', `Another flagmeter process holds ${path}: end it first`);
    await sleep(lookEveryMs);
  }
  try {
    return await work();
  } finally {
    if (read(path) === owner) rmSync(path, { force: true });
  }
}

/** Linking a written file makes it appear with its content: no process sees it empty. */
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

/** Takes away a lock that was left behind; of several that do so at once, none takes away the next one's. */
function removeAbandoned(path: string, owner: string, now: number): boolean {
  const seen = read(path);
  if (seen === undefined) return true;
  if (!isAbandoned(path, seen, now)) return false;
  const aside = `${sideFile(path, owner)}.old`;
  try {
    renameSync(path, aside);
    if (read(aside) !== seen) linkSync(aside, path);
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

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
