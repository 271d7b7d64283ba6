import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sha256Of } from '../../scripts/package/checksums.ts';
import { freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { root } from './fixture.ts';

const here = `${process.platform}-${process.arch}`;

/** Environment variables that make both builds compile the add-ons instead of using the prebuilt ones. */
const compilers = {
  CC: 'gcc',
  CXX: 'g++',
  CC_linux_arm64: 'aarch64-linux-gnu-gcc',
  CXX_linux_arm64: 'aarch64-linux-gnu-g++',
};

needing('g++', 'g++-aarch64-linux-gnu', 'git', 'patch').test(
  'builds by any user in any folder give the same executables',
  { timeout: 900_000 },
  () => {
    const targets = ['linux-x64', 'linux-arm64'];
    const env = { ...process.env, ...compilers };
    const options = { cwd: root, encoding: 'utf8', stdio: 'pipe', env } as const;
    for (const target of targets) execFileSync('bun', ['build.ts', '--target', target], options);
    const script = join(import.meta.dirname, 'another-build.sh');
    const sums = execFileSync('bash', [script, root, freshDirectory(), targets.join(' ')], options);
    const built = targets.map((target) => (target === here ? 'flagmeter' : `flagmeter-${target}`));
    expect(sums.trim().split('\n').sort()).toEqual(
      built.map((name) => `${sha256Of(join(root, 'dist', name))}  ${name}`).sort(),
    );
  },
);
