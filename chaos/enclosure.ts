import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const mark = 'CHAOS_ENCLOSED';

/** True if this process is already inside the separate namespaces. */
export const isEnclosed = process.env[mark] !== undefined;

/** Separate namespaces. Nothing inside them is visible outside, and everything ends with the first process inside. */
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

/**
 * Command of the first process. It adopts the orphans of killed servers, because a JavaScript runtime does not adopt
 * orphans.
 */
const reap = ['sh', '-c', '"$@"; exit $?', 'sh'];

/** Signals that end a run early. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs this program again in separate namespaces and a separate process group. A signal to this process closes the
 * stdin of the other process, which then ends. The signal is not passed on, because it would end the intermediate
 * programs, and the exit code would be lost.
 * @param folder folder for all remaining files
 * @returns its exit code
 * @throws {Error} unless the user is root
 */
export function runEnclosed(args: readonly string[], folder: string): Promise<number> {
  if (process.getuid?.() !== 0) throw new Error('Cannot create network namespaces: run this command as root');
  const temporary = temporaryIn(folder);
  const command = ['--pdeathsig', 'KILL', 'unshare', ...namespaces, '--propagation', 'private', ...reap];
  const child = spawn('setpriv', [...command, process.execPath, process.argv[1] ?? '', ...args], {
    stdio: ['pipe', 'inherit', 'inherit'],
    detached: true,
    env: { ...process.env, [mark]: '1', TMPDIR: temporary },
  });
  for (const ending of endings) process.on(ending, () => child.stdin.end());
  return new Promise((ended, failed) => {
    child.once('error', failed);
    child.once('close', (code) => ended(code ?? 1));
  });
}

/** Returns a directory for temporary files. It is accessible to PostgreSQL, which runs as another user. */
function temporaryIn(folder: string): string {
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  chmodSync(folder, 0o755);
  chmodSync(temporary, 0o1777);
  return temporary;
}
