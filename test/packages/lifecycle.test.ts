import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freshDirectory } from '../support/binary.ts';
import { packagesOf } from './fixture.ts';
import { itInMachine, runInMachine } from './machine.ts';

itInMachine('a .deb is installed, started, upgraded, removed and purged', () => {
  const debs = freshDirectory();
  copyFileSync(join(packagesOf('1.0.0'), 'flagmeter_1.0.0-1_amd64.deb'), join(debs, 'old.deb'));
  copyFileSync(join(packagesOf('1.1.0'), 'flagmeter_1.1.0-1_amd64.deb'), join(debs, 'new.deb'));
  const { said, output } = runInMachine('lifecycle.sh', debs);
  expect(said, output).toEqual(expected);
});

/** The expected lines in the output of `lifecycle.sh`, in this order. */
const expected = {
  'started-by-installing': 'inactive',
  user: '/var/lib/flagmeter:/usr/sbin/nologin',
  data: 'flagmeter:flagmeter 700',
  'start-without-a-store': expect.stringContaining('Cannot find a store in /var/lib/flagmeter'),
  process: 'flagmeter',
  'no-new-privileges': '1',
  // The value 2 means that a system call filter is active.
  seccomp: '2',
  capabilities: '0000000000000000',
  packet: 'HTTP/1.1 202 Accepted',
  counted: '3',
  'secrets-in-the-journal': '0',
  reloaded: 'yes',
  'version-after-upgrade': '1.1.0-1',
  'restarted-by-upgrade': 'yes',
  'settings-after-upgrade': '1',
  'counted-after-upgrade': '3',
  'active-after-removal': 'inactive',
  'left-after-removal': '/etc/flagmeter/flagmeter.json /var/lib/flagmeter/accounts/data.mdb ',
  'counted-after-return': '3',
  'left-after-purge': '',
  'user-after-purge': 'flagmeter',
  done: 'yes',
};
