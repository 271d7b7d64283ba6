import { execFileSync } from 'node:child_process';

/** Whether a test may mount a file system of its own: that needs a mount namespace, which not every host lets a user have. */
export function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', '--map-root-user', 'mount', '-t', 'tmpfs', 'none', '/mnt'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
