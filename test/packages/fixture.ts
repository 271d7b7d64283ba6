import { join } from 'node:path';
import { makePackages } from '../../scripts/package/packages.ts';
import type { Target } from '../../scripts/package/targets.ts';
import { freshDirectory, requireBinary } from '../support/binary.ts';

export const root = join(import.meta.dirname, '../..');

/** The time of the commit, in seconds since 1970. */
export const epoch = 1_795_300_000;

/** Builds the packages of an executable, with fast compression. @returns their folder */
export function packagesOf(version: string, target: Target = 'linux-x64', executable = requireBinary()): string {
  const out = freshDirectory();
  makePackages({ root, builds: [{ target, executable }], version, epoch, out, quick: true });
  return out;
}
