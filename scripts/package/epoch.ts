import { execFileSync } from 'node:child_process';

/**
 * The time that everything in the packages has, in seconds: that of the commit, so that two runs give the same bytes.
 * `SOURCE_DATE_EPOCH` comes first, for a tree without its history.
 * @throws {Error} when neither is there
 */
export function epochOf(root: string, env: NodeJS.ProcessEnv = process.env): number {
  const said = env['SOURCE_DATE_EPOCH'];
  if (said !== undefined) {
    if (!/^\d{1,12}$/.test(said))
      throw new Error(`Cannot use SOURCE_DATE_EPOCH=${said}: must be seconds since 1970`);
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
