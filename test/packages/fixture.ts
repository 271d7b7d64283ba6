import { execFileSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { ReleaseOptions } from '../../scripts/release/packages.ts';
import type { Target } from '../../scripts/release/targets.ts';
// Declares the provided folder.
import type {} from '../browser/support/start-chromium.ts';
import { freshDirectory, requireBinary } from '../support/binary.ts';

export const root = join(import.meta.dirname, '../..');

/** The time of the commit, in seconds since 1970. */
export const epoch = 1_795_300_000;

/** Returns the folder of a release that all test files share. Packing takes as long as all tests of a file. */
export function sharedRelease(): string {
  const shared = join(inject('folder') ?? freshDirectory(), 'release');
  if (existsSync(shared)) return shared;
  const packed = packagesOf('1.2.3');
  // Another file can pack at the same time.
  if (existsSync(shared)) return packed;
  renameSync(packed, shared);
  return shared;
}

/** Packs a release of an executable, with fast compression. Its compressors are in Bun. @returns its folder */
export function packagesOf(version: string, target: Target = 'linux-x64', executable = requireBinary()): string {
  const out = freshDirectory();
  const builds = [{ target, executable }];
  const options: ReleaseOptions = { root, builds, version, epoch, notes: '# Notes\n', out, quick: true };
  const code = `import { makeRelease } from ${JSON.stringify(join(root, 'scripts/release/packages.ts'))};
makeRelease(JSON.parse(process.argv[1]));`;
  execFileSync('bun', ['-e', code, JSON.stringify(options)], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
  return out;
}
