import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { packagesOf } from './fixture.ts';
import { saidIn } from './said.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('The image is not tested: the tests do not run as root');

needing('podman').it(
  'podman loads the image, and its container serves, keeps its data and stops',
  { skip: !isRoot, timeout: 600_000 },
  () => {
    const scratch = freshDirectory();
    const script = `${import.meta.dirname}/image.sh`;
    const args = ['--mount', '--net', 'bash', script, import.meta.dirname, packagesOf('1.0.0'), scratch];
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
    expect(saidIn(stdout), `${stdout}\n${stderr}`).toEqual(expected);
  },
);

/** The expected lines in the output of `image.sh`, in this order. */
const expected = {
  loaded: 'localhost/flagmeter:1.0.0',
  'without-a-url': expect.stringContaining('FLAGMETER_AUTH_URL'),
  'without-a-store': expect.stringContaining('Cannot find a store in /var/lib/flagmeter'),
  ready: 'HTTP/1.1 200 OK',
  user: '65532 65532',
  root: 'read-only',
  packet: 'HTTP/1.1 202 Accepted',
  counted: '3',
  'stopped-with': '0',
  'counted-by-the-next': '3',
  done: 'yes',
};
