import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { binaryPath, freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { packagesOf, root } from './fixture.ts';
import { saidIn } from './said.ts';

const { describe, test } = needing('binutils', 'cpio', 'dpkg', 'e2fsprogs', 'kmod', 'mmdebstrap', 'qemu-system-arm');

describe('the packages for linux-arm64', () => {
  const executable = join(root, 'dist/flagmeter-linux-arm64');

  beforeAll(() => {
    execFileSync('bun', ['build.ts', '--target', 'linux-arm64'], { cwd: root, stdio: 'pipe' });
  }, 300_000);

  test.each([
    ['the executable', executable],
    ['the LMDB add-on', join(root, 'dist/lmdb/linux-arm64/lmdb.node')],
  ])('%s is for ARM, and requires at most glibc 2.34', (_, file) => {
    const options = { encoding: 'utf8', maxBuffer: 64 << 20 } as const;
    const shown = execFileSync('readelf', ['--file-header', '--version-info', '--wide', file], options);
    expect(shown).toContain('AArch64');
    const minors = [...shown.matchAll(/\bGLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
    expect(minors.length).toBeGreaterThan(0);
    expect(Math.max(...minors)).toBeLessThanOrEqual(34);
  });

  const needs = { skip: process.getuid?.() !== 0, timeout: 1_200_000 };
  test('the executable runs on an ARM machine, and this machine can read its store', needs, () => {
    const deb = join(packagesOf('1.0.0', 'linux-arm64', executable), 'flagmeter_1.0.0-1_arm64.deb');
    const scratch = freshDirectory();
    const machine = join(import.meta.dirname, 'arm-machine.sh');
    const { stdout, stderr } = spawnSync('bash', [machine, import.meta.dirname, deb, scratch], { encoding: 'utf8' });
    expect(saidIn(stdout), `${stdout}\n${stderr}`).toMatchObject(expected);
    execFileSync('debugfs', ['-R', `rdump /flagmeter ${scratch}`, join(scratch, 'disk')], { stdio: 'pipe' });
    const data = join(scratch, 'flagmeter');
    for (const args of [['--data', data], [join(data, 'backup')]])
      expect(execFileSync(binaryPath, ['verify', ...args], { encoding: 'utf8', stdio: 'pipe' })).toContain(
        'every record is in order',
      );
  });
});

/** The expected output of `arm-life.sh`. */
const expected = {
  machine: 'aarch64',
  version: expect.stringContaining('linux arm64'),
  ready: 'HTTP/1.1 200 OK',
  packet: 'HTTP/1.1 202 Accepted',
  killed: '137',
  'counted-after-kill': '3',
  ended: '0',
  verified: '2',
  done: 'yes',
};
