import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Commit } from './commit.ts';

/**
 * Returns the time of all files in the packages, in seconds. It is the time of the commit, so that two runs produce the
 * same bytes. `SOURCE_DATE_EPOCH` takes precedence. If the commit is unknown, it is the time of `package.json`, which
 * `git archive` sets to the time of the commit.
 * @throws {Error} if `SOURCE_DATE_EPOCH` is not a number of seconds
 */
export function readEpoch(root: string, commit: Commit | undefined, env: NodeJS.ProcessEnv = process.env): number {
  const said = env['SOURCE_DATE_EPOCH'];
  if (said === undefined) return commit?.time ?? Math.floor(statSync(join(root, 'package.json')).mtimeMs / 1000);
  if (!/^\d{1,12}$/.test(said))
    throw new Error(`Cannot use SOURCE_DATE_EPOCH=${said}: not a number of seconds since 1970`);
  return Number(said);
}
