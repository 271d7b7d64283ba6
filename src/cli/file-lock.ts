import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Context } from './context.ts';
import { Failure } from './failure.ts';

/** Work under the lock is shorter: an older lock is abandoned. */
const abandonedAfterMs = 120_000;
/** Time limit for acquiring the lock, and the interval between attempts. */
const timeoutMs = 150_000;
const retryEveryMs = 50;

/**
 * Does work while holding a lock, and takes over the lock of a dead process. The lock is a file that is created with its owner in
 * it, which works on network file systems too.
 * @param path of the lock, in a writable directory
 * @throws {Failure} if another process keeps it
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
    if (read(path) === owner) rmSync(path, { force: true });
  }
}

/** Links a written file, so that no process sees it empty. */
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

/** Removes an abandoned lock. Of several processes that do so at once, none removes the lock of the next owner. */
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
