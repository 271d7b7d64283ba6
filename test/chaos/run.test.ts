import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needing } from '../support/needing.ts';
import { root } from '../support/sources.ts';

interface Outcome {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function chaos(...args: string[]): Promise<Outcome> {
  return new Promise((done) => {
    const bun = join(root, 'node_modules/.bin/bun');
    execFile(bun, [join(root, 'chaos/main.ts'), ...args], (error, stdout, stderr) => {
      done({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

/** A machine whose user may not make namespaces has no scene for faults. */
const allowed = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', 'true']).status === 0;
if (!allowed)
  console.warn('The chaos run needs namespaces of its own; run it as root. Its rounds are left out.');

const rounds = needing('haproxy', 'iproute2', 'nftables', 'postgresql').test;

/** Seeds whose first rounds together have a bit of everything, and end in time on a slow machine. */
(allowed ? rounds : rounds.skip).each([
  {
    name: 'one node that is killed',
    args: ['--alone', '--rounds', '2', '--seed', '7'],
    faults: /fault: kill +2/,
  },
  {
    name: 'three nodes and a primary that are killed',
    args: ['--rounds', '2', '--seed', '1', '--only', 'kill,failover'],
    faults: /fault: (kill|failover) +[1-9]/,
  },
])('finds everything as promised: $name', async ({ args, faults }) => {
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-chaos-'));
  const { code, stdout, stderr } = await chaos(...args, '--folder', folder);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^seed \d, 2 rounds, logs in \//);
  expect(stdout).toMatch(faults);
  expect(stdout).toMatch(/ {2}packet: 202 +\d{2}/);
  expect(stdout).toMatch(/^0 violations$/m);
  rmSync(folder, { recursive: true }); // Otherwise the logs tell why.
});

it.each([
  [['--minutes', 'two'], "Option '--minutes' must be a number: it is 'two'"],
  [['--only', 'kil'], "Option '--only' names no fault: 'kil'"],
])('names what is wrong with %j', async (args, message) => {
  expect(await chaos(...args)).toEqual({ code: 2, stdout: '', stderr: `${message}\n` });
});
