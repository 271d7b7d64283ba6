import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePackages } from '../../scripts/package/packages.ts';
import type { Target } from '../../scripts/package/targets.ts';
import { requireBinary } from '../support/binary.ts';

export const root = join(import.meta.dirname, '../..');

/** A commit's time. */
export const epoch = 1_795_300_000;

/** A folder with the packages of a built executable, compressed little. */
export function packagesOf(
  version: string,
  target: Target = 'linux-x64',
  executable = requireBinary(),
): string {
  const out = mkdtempSync(join(tmpdir(), 'flagmeter-packages-'));
  process.once('exit', () => rmSync(out, { recursive: true, force: true }));
  makePackages({ root, builds: [{ target, executable }], version, epoch, out, quick: true });
  return out;
}
