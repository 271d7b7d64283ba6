import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { binaryPath, freshDirectory, prepare } from '../support/binary.ts';
import { canMount } from '../support/mount.ts';
import { runProgram } from '../support/run-binary.ts';

/** Runs commands on a machine whose installed settings are the given ones. `/etc` is replaced for these commands only. */
async function runInstalled(settings: object, commands: string) {
  const file = join(freshDirectory(), 'flagmeter.json');
  writeFileSync(file, JSON.stringify(settings));
  const script = `mount -t tmpfs none /etc && mkdir /etc/flagmeter && cp "${file}" /etc/flagmeter/ && ${commands}`;
  return runProgram('unshare', ['--mount', '--map-root-user', 'sh', '-c', script]);
}

test.runIf(canMount())(
  'commands use the settings of the installed server, unless a file or a directory is named',
  async () => {
    const directory = freshDirectory();
    const data = join(directory, 'data');
    const other = join(directory, 'other');
    await prepare(data);
    await prepare(other);
    const config = join(directory, 'other.json');
    writeFileSync(config, JSON.stringify({ data: other }));
    const verify = `"${binaryPath}" verify`;
    const commands = [
      verify,
      `${verify} --data "${other}"`,
      `${verify} --config "${config}"`,
      `FLAGMETER_CONFIG="${config}" ${verify}`,
    ];
    const { stdout, stderr } = await runInstalled({ data }, commands.join(' && echo && '));
    expect(stderr).toBe('');
    const files = stdout.split('\n\n').map((text) => text.split('/accounts/data.mdb', 1)[0]);
    expect(files).toEqual([data, other, other, other]);
  },
);

test.runIf(canMount())('an error of a command names the installed settings that cannot be used', async () => {
  const { code, stderr } = await runInstalled({ no: 1 }, `"${binaryPath}" backup list`);
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'Unknown key no in /etc/flagmeter/flagmeter.json\n' });
});
