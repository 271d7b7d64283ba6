import { execFileSync } from 'node:child_process';

/**
 * True if a test can mount a file system. Mounting needs a mount namespace, which some hosts forbid for ordinary users.
 */
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
