import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../support/sources.ts';
import { rounds } from './rounds.ts';

interface CommandResult {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function chaos(...args: string[]): Promise<CommandResult> {
  return new Promise((done) => {
    const bun = join(root, 'node_modules/.bin/bun');
    execFile(bun, [join(root, 'chaos/main.ts'), ...args], (error, stdout, stderr) => {
      done({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

/** Runs with a seed whose first rounds draw the listed faults. Together, the runs take about a minute. */
rounds.each([
  {
    name: 'one node that is killed, and whose disk is full',
    args: ['--alone', '--rounds', '2', '--seed', '3'],
    faults: ['diskFull', 'kill'],
  },
  {
    name: 'three nodes with a kill, a clock that jumps, commits without a response, and two primaries',
    args: ['--rounds', '2', '--seed', '106357'],
    faults: ['answersLost', 'clockJumps', 'kill', 'splitBrain'],
  },
])('npm run chaos finds no violation: $name', async ({ args, faults }) => {
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-chaos-'));
  const { code, stdout, stderr } = await chaos(...args, '--folder', folder);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^seed \d+, 2 rounds, logs in \//);
  expect([...stdout.matchAll(/ {2}fault: (\S+)/g)].map(([, name]) => name)).toEqual(faults);
  expect(stdout).toMatch(/ {2}packet: 202 +\d{2}/);
  expect(stdout).toMatch(/^0 violations$/m);
  rmSync(folder, { recursive: true }); // The logs of a failed run are kept.
});

it.each([
  [['--minutes', 'two'], "Option '--minutes' must be a number: it is 'two'"],
  [['--only', 'kil'], "Option '--only' names no fault: 'kil'"],
])('npm run chaos reports the error in the arguments %j', async (args, message) => {
  expect(await chaos(...args)).toEqual({ code: 2, stdout: '', stderr: `${message}\n` });
});
