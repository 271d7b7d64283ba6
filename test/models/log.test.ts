import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { needing } from '../support/needing.ts';

const { test } = needing('spin');

const models = fileURLToPath(new URL('../../models', import.meta.url));

/** Searches the states of a model. @param optimization option of the compiler @returns the number of errors */
function errorsOf(model: string, switches: readonly string[], optimization: string): number {
  const env = { ...process.env, OPTIMIZATION: optimization };
  const text = execFileSync(`${models}/check.sh`, [`${models}/${model}`, ...switches], { encoding: 'utf8', env });
  return Number(/errors: (\d+)/.exec(text)?.[1]);
}

test.each([
  ['one failover and synchronous commits', []],
  ['two failovers that lose acknowledged commits', ['-DLOSSY=1', '-DFO=2']],
])('every replica in the log model counts each packet once with %s', (_, switches) => {
  expect(errorsOf('log.pml', ['-DNP=2', ...switches], '-O2')).toBe(0);
});

test.each([
  ['the fence of a stream', ['-DFENCE=0']],
  ['the random ids of entries', ['-DIDS=0', '-DLOSSY=1']],
  ['the rule that a message counts once', ['-DMESSAGES=0']],
  ['the comparison of deltas after a failover', ['-DHEAL=0', '-DLOSSY=1']],
])('the check of the log model fails without %s', (_, switches) => {
  expect(errorsOf('log.pml', ['-DNP=2', ...switches], '-O0')).toBe(1);
});
