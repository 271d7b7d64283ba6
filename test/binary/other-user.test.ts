import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { binaryPath, freshDirectory, prepare } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { runBinary, runProgram } from '../support/run-binary.ts';

const asOther = ['--reuid=65534', '--regid=65534', '--clear-groups', binaryPath];

test.runIf(process.getuid?.() === 0).each([
  ['init', ['--admin-email', 'admin@example.com']],
  ['serve', freePorts],
  ['serve', ['--existing', ...freePorts]],
  ['backup', ['--to', 'backup']],
  ['verify', []],
  ['compact', []],
  ['admin', ['reset-password', '--email', 'admin@example.com']],
  ['signing-keys', ['rotate']],
])('%s in a data directory of another user reports the owner instead of a missing store', async (command, args) => {
  const directory = freshDirectory();
  chmodSync(directory, 0o755);
  const data = join(directory, 'data');
  await prepare(data);
  const env = { TMPDIR: '/tmp' };
  const words =
    command === 'admin' || command === 'signing-keys'
      ? [args[0]!, '--data', data, ...args.slice(1)]
      : ['--data', data, ...args];
  const { code, stderr } = await runProgram('setpriv', [...asOther, command, ...words], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Cannot (read|use) .*: permission denied \(\S+ belongs to root\)/m);
});

test.runIf(process.getuid?.() === 0)("restore reports that another user's backup is unreadable", async () => {
  const directory = freshDirectory();
  chmodSync(directory, 0o755);
  const data = join(directory, 'data');
  const file = join(directory, 'backup');
  await prepare(data);
  expect(await runBinary(['backup', '--data', data, '--to', file])).toMatchObject({ code: 0 });
  const target = join(directory, 'target');
  mkdirSync(target);
  chmodSync(target, 0o777);
  const restore = ['restore', '--from', file, '--data', target];
  const { code, stderr } = await runProgram('setpriv', [...asOther, ...restore], { TMPDIR: '/tmp' });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `Cannot read ${file}: permission denied (it belongs to root)\n`,
  });
  expect(existsSync(join(target, 'accounts'))).toBe(false);
});
