import { execFileSync } from 'node:child_process';

/**
 * The time of all files in the packages, in seconds: that of the commit, so that two runs produce the same bytes.
 * `SOURCE_DATE_EPOCH` takes precedence, for a tree without history.
 * @throws {Error} if there is neither
 */
export function epochOf(root: string, env: NodeJS.ProcessEnv = process.env): number {
  const said = env['SOURCE_DATE_EPOCH'];
  if (said !== undefined) {
    if (!/^\d{1,12}$/.test(said))
      throw new Error(`Cannot use SOURCE_DATE_EPOCH=${said}: not a number of seconds since 1970`);
    return Number(said);
  }
  try {
    return Number(
      execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, stdio: 'pipe' }).toString(),
    );
  } catch {
    throw new Error(
      `Cannot read the time of the commit in ${root}: set SOURCE_DATE_EPOCH, in seconds since 1970`,
    );
  }
}
