import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { epoch, root } from './fixture.ts';

/** Environment variables that make both builds compile the add-ons instead of using the prebuilt ones. */
const compilers = {
  CC: 'gcc',
  CXX: 'g++',
  CC_linux_arm64: 'aarch64-linux-gnu-gcc',
  CXX_linux_arm64: 'aarch64-linux-gnu-g++',
};

needing('dpkg', 'g++', 'g++-aarch64-linux-gnu', 'git', 'patch').test(
  'builds by any user in any folder give the same files of a release',
  { timeout: 1_800_000 },
  () => {
    // The copy of the tree is not a checkout, so that its commit is unknown.
    const env = { ...process.env, ...compilers, SOURCE_DATE_EPOCH: `${epoch}` };
    const options = { cwd: root, encoding: 'utf8', stdio: 'pipe', env } as const;
    const out = freshDirectory();
    execFileSync('bun', ['scripts/release/main.ts', '--out', out], options);
    const script = join(import.meta.dirname, 'another-build.sh');
    const sums = execFileSync('bash', [script, root, freshDirectory()], options);
    expect(sums).toBe(readFileSync(join(out, 'SHA256SUMS'), 'utf8'));
  },
);
