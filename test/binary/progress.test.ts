import { join } from 'node:path';
import { expect, test } from 'vitest';
import { binaryPath, freshDirectory, prepare } from '../support/binary.ts';
import { runBinary, runProgram } from '../support/run-binary.ts';

/** Runs a command with its output on a terminal. The terminal merges both outputs, and ends lines with CR LF. */
async function runInTerminal(args: readonly string[]): Promise<string> {
  const command = [binaryPath, ...args].map((word) => `'${word}'`).join(' ');
  const { stdout } = await runProgram('script', ['--quiet', '--return', '--command', command, '/dev/null']);
  return stdout;
}

test('long commands on a terminal fill one line to 100 %, and print their results below it', async () => {
  const directory = freshDirectory();
  const data = join(directory, 'data');
  const file = join(directory, 'backup');
  await prepare(data);
  const commands = [
    ['verify', '--data', data],
    ['backup', '--data', data, '--to', file],
    ['verify', file],
    ['restore', '--from', file, '--data', join(directory, 'restored')],
    ['compact', '--data', data],
  ];
  for (const args of commands) {
    const [bar = '', result, ...rest] = (await runInTerminal(args)).split('\r\n');
    expect(bar.split('\r').at(-1), args[0]).toMatch(/^\w+ing( up)? \[#{30}\] 100 % \d+ \w+ *$/);
    expect(result, args[0]).toMatch(/data|backup/);
    expect(`${result}${rest.join('')}`, args[0]).not.toContain('\r');
  }
});

test('long commands in a pipe write no carriage return', async () => {
  const data = join(freshDirectory(), 'data');
  await prepare(data);
  const { stdout, stderr } = await runBinary(['verify', '--data', data]);
  expect(stdout).toContain('every record is in order');
  expect(stdout + stderr).not.toContain('\r');
});
