import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { needing } from '../support/needing.ts';
import { saidIn } from './said.ts';

/** Returns the reason why this machine cannot be copied and booted; `undefined` if it can be. */
function whyNoMachine(): string | undefined {
  if (process.getuid?.() !== 0) return 'the tests do not run as root';
  const script =
    'mount -t tmpfs tmpfs /mnt && mkdir /mnt/{u,w,m} && mount -t overlay o -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/m';
  const { status } = spawnSync('unshare', ['--mount', 'bash', '-c', script]);
  return status === 0 ? undefined : 'root cannot mount an overlay on this machine';
}

const why = whyNoMachine();
if (why !== undefined) console.warn(`Installations are not tested: ${why}`);

/** Declares a test that runs in a copy of this machine. */
export function itInMachine(name: string, test: () => void): void {
  needing('dpkg', 'systemd-container').it(name, { skip: why !== undefined, timeout: 400_000 }, test);
}

/**
 * Boots a copy of this machine and runs a script of this folder in it.
 * @param packages a folder that is mounted at `/packages`
 * @returns the script's NAME=VALUE lines, and all output
 */
export function runInMachine(
  script: string,
  packages: string,
): { readonly said: Readonly<Record<string, string>>; readonly output: string } {
  const boot = join(import.meta.dirname, 'boot.sh');
  const args = ['--mount', 'bash', boot, import.meta.dirname, packages, script];
  const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
  return { said: saidIn(stdout.split('--- errors')[0]!), output: `${stdout}\n${stderr}` };
}
