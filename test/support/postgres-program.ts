import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const isRoot = process.getuid?.() === 0;

/** The directory of PostgreSQL's server programs, which Debian does not put into the PATH. */
const programs = findPrograms();

/** The reason why no server can be started here; `undefined` if a server can be started. */
export const whyNoPostgres =
  programs === undefined ? 'PostgreSQL is not installed: apt-get install postgresql' : undefined;

/** Owns the servers' files. The server refuses to run as root, so it is the user of Debian's package then. */
const owner = isRoot && programs !== undefined ? { uid: readId('-u'), gid: readId('-g') } : undefined;

function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(debian, version, 'bin'));
  try {
    folders.push(execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim());
  } catch {
    // Only the package with the client's headers contains it.
  }
  return folders.find((folder) => existsSync(join(folder, 'initdb')));
}

function readId(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}

/**
 * Starts a program of PostgreSQL as the user that owns the servers.
 * @param prefix a command that runs it, such as `ip netns exec …`
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

/** The environment of programs: no variables such as PGHOST, and the language of messages that tests compare. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', TZ: 'UTC' };
}

/**
 * Creates the data directory of a server in a fresh folder. The files come from a copy that is kept next to the
 * dependencies, because `initdb` takes seconds.
 * @returns the folder: `DIR/data` is the server's, the rest is for its other files
 */
export async function freshServer(): Promise<string> {
  const folder = emptyServer();
  copy(await template(), join(folder, 'data'));
  return folder;
}

/** Like `freshServer`, but without the data directory. */
export function emptyServer(): string {
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-postgres-'));
  own(folder);
  return folder;
}

/** Gives a file or directory to the user of the servers. */
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
    // Another process was first.
    rmSync(own, { recursive: true, force: true });
  }
  return kept;
}

/** A port below the range for outgoing connections, so that it is still free when a server restarts. */
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
 * Cleans up a server after this process: kills every process that works in `folder`, and removes it,
 * once this process is gone or closes the guard. The children of a killed server are not in its process group, but they
 * stay in its directory; stopped ones would wait forever.
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
