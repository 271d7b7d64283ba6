import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { needing } from '../support/needing.ts';

const { test } = needing('spin');

const models = fileURLToPath(new URL('../../models', import.meta.url));

/** Searches all states of a model; gives the number of errors. */
function errorsOf(model: string, switches: readonly string[]): number {
  const text = execFileSync(`${models}/check.sh`, [`${models}/${model}`, ...switches], { encoding: 'utf8' });
  return Number(/errors: (\d+)/.exec(text)?.[1]);
}

test.each([
  ['one failover, and commits that wait for their replication', []],
  ['two failovers that lose what was answered', ['-DLOSSY=1', '-DFO=2']],
])('every replica counts each packet once through %s', (_, switches) => {
  expect(errorsOf('log.pml', ['-DNP=2', ...switches])).toBe(0);
});

test.each([
  ['the fence of a stream', ['-DFENCE=0']],
  ['the ids of entries', ['-DIDS=0', '-DLOSSY=1']],
  ['the rule of messages', ['-DMESSAGES=0']],
  ['the comparison after a failover', ['-DHEAL=0', '-DLOSSY=1']],
])('the model fails without %s', (_, switches) => {
  expect(errorsOf('log.pml', ['-DNP=2', ...switches])).toBe(1);
});
