import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const isRoot = process.getuid?.() === 0;

/** The directory of PostgreSQL's server programs. Debian does not add it to the PATH. */
const programs = findPrograms();

/** The reason why no server can be started on this machine; `undefined` if one can be started. */
export const whyNoPostgres =
  programs === undefined ? 'PostgreSQL is not installed: apt-get install postgresql' : undefined;

/** Owner of the servers' files. PostgreSQL refuses to run as root, so root uses the user of Debian's package. */
const owner = isRoot && programs !== undefined ? { uid: readId('-u'), gid: readId('-g') } : undefined;

function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(debian, version, 'bin'));
  try {
    folders.push(execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim());
  } catch {
    // Only the package with the client's headers contains `pg_config`.
  }
  return folders.find((folder) => existsSync(join(folder, 'initdb')));
}

function readId(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}

/**
 * Starts a program of PostgreSQL as the user that owns the servers.
 * @param prefix command prefix, such as `ip netns exec …`
 */
export function spawnProgram(
  name: string,
  args: readonly string[],
  options: SpawnOptions,
  prefix: readonly string[] = [],
): ChildProcess {
  if (programs === undefined) throw new Error(whyNoPostgres);
  const as = owner ? ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--init-groups'] : [];
  const words = [...prefix, ...as, join(programs, name), ...args];
  const [command, ...rest] = words as [string, ...string[]];
  return spawn(command, rest, { ...options, env: environment() });
}

/** Runs a program of PostgreSQL to its end. @throws {Error} with its output, if it fails */
export function runProgram(name: string, args: readonly string[], prefix: readonly string[] = []): Promise<void> {
  const child = spawnProgram(name, args, { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] }, prefix);
  let said = '';
  const hear = (text: Buffer) => {
    said += text.toString();
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => (code === 0 ? done() : failed(new Error(`${name} failed: ${said}`))));
  });
}

/** Returns the environment of the programs, without variables such as PGHOST, and with a fixed language. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', TZ: 'UTC' };
}

/**
 * Creates the data directory of a server in a new folder. The files are copied from a directory that is kept next to
 * the dependencies, because `initdb` takes seconds.
 * @returns the folder; the data directory is `DIR/data`, and other files of the server can be next to it
 */
export async function freshServer(): Promise<string> {
  const folder = emptyServer();
  copy(await template(), join(folder, 'data'));
  return folder;
}

/** Creates the folder of a server without a data directory. */
export function emptyServer(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-postgres-'));
  own(folder);
  return folder;
}

/** Changes the owner of a file or directory to the user of the servers. */
export function own(path: string): void {
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
}

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  execFileSync('chmod', ['-R', 'u=rwX,go=', to]);
  if (owner !== undefined) execFileSync('chown', ['-R', `${owner.uid}:${owner.gid}`, to]);
}

async function template(): Promise<string> {
  const cache = resolve(import.meta.dirname, '../../node_modules/.cache');
  const kept = join(cache, `postgres-${String(programs).replaceAll('/', '-')}-1`);
  if (existsSync(kept)) return kept;
  const folder = emptyServer();
  const made = join(folder, 'data');
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8'];
  await runProgram('initdb', ['-D', made, '-U', 'postgres', '-A', 'trust', '-N', ...locale]);
  mkdirSync(cache, { recursive: true });
  const own = `${kept}.${process.pid}`;
  cpSync(made, own, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  try {
    renameSync(own, kept);
  } catch {
    // Another process has created the copy in the meantime.
    rmSync(own, { recursive: true, force: true });
  }
  return kept;
}

/** Returns a port below the range for outgoing connections. It is still free when a server restarts. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000);
    const isFree = await new Promise<boolean>((tell) => {
      const server = createServer().once('error', () => tell(false));
      server.listen(port, host, () => server.close(() => tell(true)));
    });
    if (isFree) return port;
  }
}

/**
 * Starts a guard that cleans up a server. The guard waits until this process has ended or closed the guard. It then
 * kills every process that works in `folder`, and removes the folder. Children of a killed server share no process
 * group, but they share its directory. Stopped children would otherwise wait forever.
 */
export function guard(folder: string): { close(): Promise<void> } {
  const script = `
    cat >/dev/null
    find /proc/[0-9]*/cwd -maxdepth 0 -lname "$1/*" 2>/dev/null |
      while IFS=/ read -r _ _ each _; do kill -KILL "$each"; done
    rm -rf "$1" || { sleep 1; rm -rf "$1"; }`;
  const child = spawn('sh', ['-c', script, 'guard', folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  (child.stdin as unknown as { unref?(): void }).unref?.();
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    close: () => {
      child.ref();
      child.stdin?.end();
      return gone;
    },
  };
}
