import { spawnSync } from 'node:child_process';

/** The commit that is checked out in a source tree. */
export interface Commit {
  readonly id: string;
  /** Time of the commit, in seconds since 1970. */
  readonly time: number;
  /** True if tracked files differ from the commit, or there are untracked files. */
  readonly hasChanges: boolean;
}

/** @returns `undefined` if git is missing, or if `root` is not the root of a checkout with a commit */
export function readCommit(root: string, env: NodeJS.ProcessEnv = process.env): Commit | undefined {
  const git = (...args: readonly string[]) => {
    // This setting makes git accept a checkout that belongs to another user.
    const command = ['-c', `safe.directory=${root}`, ...args];
    const { status, stdout } = spawnSync('git', command, { cwd: root, env, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  };
  // The output is not empty if `root` is a folder inside another checkout.
  if (git('rev-parse', '--show-cdup') !== '') return undefined;
  const [id, time] = git('log', '-1', '--format=%H %ct')?.split(' ') ?? [];
  const changes = git('status', '--porcelain');
  if (id === undefined || time === undefined || changes === undefined) return undefined;
  return { id, time: Number(time), hasChanges: changes !== '' };
}

/** Returns the packaged version and commit, for a message. */
export function formatSource(version: string, commit: Commit | undefined): string {
  if (commit === undefined) return `flagmeter ${version} (commit unknown: no git, or not a checkout)`;
  return `flagmeter ${version}, commit ${commit.id}${commit.hasChanges ? ' with uncommitted changes' : ''}`;
}

/** Returns the command that tags the release, or the reason why the commit must not be tagged. */
export function formatTagging(version: string, commit: Commit | undefined): string {
  const command = `git tag -a v${version} -m 'flagmeter ${version}'`;
  if (commit === undefined) return `To tag the release, in a checkout: ${command} COMMIT`;
  if (commit.hasChanges) return 'These packages differ from the commit. Commit and package again to tag.';
  return `To tag the release: ${command} ${commit.id}`;
}
