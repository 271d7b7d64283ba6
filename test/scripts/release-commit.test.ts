import { execFileSync } from 'node:child_process';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Commit, formatSource, formatTagging, readCommit } from '../../scripts/release/commit.ts';
import { readEpoch } from '../../scripts/release/epoch.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const id = '83aca3c7'.repeat(5);
const clean: Commit = { id, time: 1_795_300_000, hasChanges: false };
const changed: Commit = { ...clean, hasChanges: true };

/** Creates a source tree without git. */
function tree(): string {
  const root = temporaryDirectory();
  writeFileSync(join(root, 'package.json'), '{}');
  return root;
}

const gitEnv = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b',
  GIT_COMMITTER_DATE: '1795300000 +0000',
};

/** Creates a git checkout with one commit. */
function checkout(): { readonly root: string; readonly head: string } {
  const root = tree();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env: gitEnv, encoding: 'utf8' });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'First');
  return { root, head: git('rev-parse', 'HEAD').trim() };
}

describe('npm run release', () => {
  it('npm run release prints the version, the commit, and whether there are uncommitted changes', () => {
    expect(formatSource('0.2.0', clean)).toBe(`flagmeter 0.2.0, commit ${id}`);
    expect(formatSource('0.2.0', changed)).toBe(`flagmeter 0.2.0, commit ${id} with uncommitted changes`);
    expect(formatSource('0.2.0', undefined)).toContain('flagmeter 0.2.0 (commit unknown');
  });

  it('npm run release prints the command that tags the commit, unless the packages have other changes', () => {
    const command = "git tag -a v0.2.0 -m 'flagmeter 0.2.0'";
    expect(formatTagging('0.2.0', clean)).toBe(`To tag the release: ${command} ${id}`);
    expect(formatTagging('0.2.0', undefined)).toContain(`${command} COMMIT`);
    expect(formatTagging('0.2.0', changed)).not.toContain('git tag');
  });

  it('npm run release finds no commit without git, or in a tree that is not a checkout', () => {
    expect(readCommit(tree())).toBe(undefined);
    expect(readCommit(tree(), { PATH: '/nowhere' })).toBe(undefined);
  });

  it('npm run release takes the time of files from SOURCE_DATE_EPOCH, the commit, or package.json', () => {
    const root = tree();
    utimesSync(join(root, 'package.json'), 1_700_000_000, 1_700_000_000);
    expect(readEpoch(root, clean, { SOURCE_DATE_EPOCH: '1' })).toBe(1);
    expect(readEpoch(root, clean, {})).toBe(clean.time);
    expect(readEpoch(root, undefined, {})).toBe(1_700_000_000);
    expect(() => readEpoch(root, clean, { SOURCE_DATE_EPOCH: 'x' })).toThrow('not a number of seconds');
  });
});

needing('git').describe('npm run release in a checkout', () => {
  it('npm run release reads the commit and its time, and detects changed and untracked files', () => {
    const { root, head } = checkout();
    const commit = { id: head, time: 1_795_300_000, hasChanges: false };
    expect(readCommit(root)).toEqual(commit);
    writeFileSync(join(root, 'package.json'), '{ }');
    expect(readCommit(root)).toEqual({ ...commit, hasChanges: true });

    const other = checkout();
    writeFileSync(join(other.root, 'untracked'), '');
    expect(readCommit(other.root)?.hasChanges).toBe(true);
  });

  it('npm run release finds no commit if git is missing, or in a folder of another checkout', () => {
    const { root } = checkout();
    expect(readCommit(root, { PATH: '/nowhere' })).toBe(undefined);
    mkdirSync(join(root, 'unpacked'));
    expect(readCommit(join(root, 'unpacked'))).toBe(undefined);
  });

  it('npm run release finds no commit in a repository without commits', () => {
    const root = tree();
    execFileSync('git', ['init', '--quiet'], { cwd: root, env: gitEnv });
    expect(readCommit(root)).toBe(undefined);
  });
});
