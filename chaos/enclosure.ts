import { spawn } from 'node:child_process';

const mark = 'CHAOS_ENCLOSED';

/** Whether this process is the one inside. */
export const isEnclosed = process.env[mark] !== undefined;

/** Namespaces of its own: what happens inside is seen by no one else, and all of it ends with the first process inside. */
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** The first process inside takes in the orphans of killed servers, which a runtime of JavaScript does not. */
const reap = ['sh', '-c', '"$@"; exit $?', 'sh'];

/**
 * Runs this program once more, in namespaces of its own.
 * @returns its exit code
 * @throws {Error} unless the user is root
 */
export function runEnclosed(args: readonly string[]): Promise<number> {
  if (process.getuid?.() !== 0) throw new Error('Cannot make network namespaces: run it as root');
  const command = ['--pdeathsig', 'KILL', 'unshare', ...namespaces, '--propagation', 'private', ...reap];
  const child = spawn('setpriv', [...command, process.execPath, process.argv[1] ?? '', ...args], {
    stdio: 'inherit',
    env: { ...process.env, [mark]: '1' },
  });
  return new Promise((ended, failed) => {
    child.once('error', failed);
    child.once('close', (code) => ended(code ?? 1));
  });
}
