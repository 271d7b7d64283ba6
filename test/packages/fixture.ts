import { join } from 'node:path';
import { makePackages } from '../../scripts/package/packages.ts';
import type { Target } from '../../scripts/package/targets.ts';
import { freshDirectory, requireBinary } from '../support/binary.ts';

// The packages are large.
export const root = join(import.meta.dirname, '../..');

/** Time of the commit. */
export const epoch = 1_795_300_000;

/** A folder with the packages of a built executable, with fast compression. */
export function packagesOf(version: string, target: Target = 'linux-x64', executable = requireBinary()): string {
  const out = freshDirectory();
  makePackages({ root, builds: [{ target, executable }], version, epoch, out, quick: true });
  return out;
}
