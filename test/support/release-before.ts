import { execFile, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/**
 * The commit of the previous release, which is the last release without webhooks. Update it at each release: see
 * packaging/README.md.
 */
export const releaseBefore = '60bd6c0b25196f64097aacca926e8dd18bfca97e';

/** Lets git read files of another user, which can occur in CI. */
const anyOwner = ['-c', `safe.directory=${root}`];

const hasCommit = spawnSync('git', [...anyOwner, 'cat-file', '-e', `${releaseBefore}^{commit}`], { cwd: root });

/** The reason why the previous release cannot be built although git is installed; `undefined` if it can be built. */
export const whyNoReleaseBefore =
  hasCommit.error !== undefined || hasCommit.status === 0
    ? undefined
    : `This copy of the project lacks the commit ${releaseBefore}, the release before: git fetch --unshallow`;

/**
 * Returns the executable of the previous release. It is built once, and kept next to the dependencies.
 * @throws {Error} with the output of the build
 */
export async function binaryBefore(): Promise<string> {
  const kept = join(root, 'node_modules/.cache', `flagmeter-${releaseBefore.slice(0, 12)}`);
  if (existsSync(kept)) return kept;
  mkdirSync(dirname(kept), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-before-'));
  try {
    await checkOut(folder);
    takeDependencies(folder);
    await run(join(root, 'node_modules/.bin/bun'), ['build.ts'], { cwd: folder });
    const own = `${kept}.${process.pid}`; // Another process can build the executable at the same time.
    copyFileSync(join(folder, 'dist/flagmeter'), own);
    renameSync(own, kept);
    return kept;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function checkOut(folder: string): Promise<void> {
  const tar = join(folder, 'sources.tar');
  await run('git', [...anyOwner, 'archive', '--output', tar, releaseBefore], { cwd: root });
  await run('tar', ['--extract', '--file', tar, '--directory', folder]);
}

/**
 * Packages that are copied, not linked. The build writes to the first package, and refers to files of the second
 * package by path.
 */
const copied = ['lmdb', 'piscina'];

/** Links to the current dependencies, which include everything that the previous release needs. */
function takeDependencies(folder: string): void {
  const ours = join(root, 'node_modules');
  const theirs = join(folder, 'node_modules');
  mkdirSync(theirs);
  for (const name of readdirSync(ours)) {
    if (name === '.cache') continue;
    if (copied.includes(name)) cpSync(join(ours, name), join(theirs, name), { recursive: true });
    else symlinkSync(join(ours, name), join(theirs, name));
  }
}
