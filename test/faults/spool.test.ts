import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Delta } from '../../src/replication/delta.ts';
import { decodeDelta } from '../../src/replication/delta.ts';
import { Spool } from '../../src/replication/spool.ts';
import { createSpoolAggregator } from '../../src/replication/spool-aggregator.ts';
import { failingDisk } from '../support/failing-disk.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'test/faults/spool-process.ts');
const checksOfBatch = 11;

/**
 * Runs a process that writes batches and seals deltas, until the process ends.
 * @param strike called with the process after it has reported `after` batches
 * @returns the batches that the process reported to be on disk
 */
function count(
  data: string,
  seed: number,
  after: number,
  strike: (child: ChildProcess) => void,
  env: Record<string, string> = {},
): Promise<string[]> {
  const bun = join(root, 'node_modules/.bin/bun');
  const child = spawn(bun, [program, data, `stream-${seed}`, `${seed}`], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (printed.split('\n').length > after) strike(child);
  });
  return new Promise((resolve) => child.on('close', () => resolve(printed.split('\n').slice(0, -1))));
}

async function sealRest(data: string): Promise<Delta[]> {
  const spool = new Spool(data, () => 'directory');
  const watermark = { at: 0, applied: 0, version: 0 };
  const limits = { stream: 'last', watermark, maxIdentities: 100, maxBytes: 2 ** 30 };
  createSpoolAggregator(spool.store, limits).seal({ watermark });
  const deltas = spool.streams().flatMap(({ stream, sealed }) => {
    const found = spool.deltas(stream, 1, 1_000_000);
    expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: sealed }, (_, at) => at + 1));
    return found.map(({ body }) => decodeDelta(body));
  });
  await spool.close();
  return deltas;
}

/** Expects each reported batch exactly once, and at most one unreported batch for each end of the process. */
function expectOnce(deltas: readonly Delta[], said: readonly string[], ends: number): void {
  const messages = deltas.flatMap((delta) => delta.messages);
  const identities = messages.map(({ identity }) => {
    const bytes = Buffer.from(identity);
    return `${bytes.readUInt32BE(8)} ${bytes.readUInt32BE(12)}`;
  });
  expect(new Set(identities).size).toBe(identities.length);
  expect(identities).toEqual(expect.arrayContaining([...said]));
  expect(identities.length).toBeLessThanOrEqual(said.length + ends);
  const counts = [...deltas, ...messages].flatMap((each) => each.counts.filter((_, at) => at % 5 === 2));
  expect(counts.reduce((sum, checks) => sum + checks, 0)).toBe(identities.length * checksOfBatch);
}

test('a killed node keeps each batch that was reported as durable exactly once', async () => {
  const data = temporaryDirectory();
  const said: string[] = [];
  const ends = 12;
  for (let seed = 1; seed <= ends; seed += 1) {
    said.push(...(await count(data, seed, 1 + seed * 3, (child) => child.kill('SIGKILL'))));
  }
  expect(said.length).toBeGreaterThan(ends);
  expectOnce(await sealRest(data), said, ends);
});

needing('g++').test(
  'a node whose disk fails during counting and sealing keeps each reported batch exactly once',
  async () => {
    const data = temporaryDirectory();
    const { env, fail } = failingDisk('FAILING_SYNC');
    const said = await count(data, 1, 30, fail, env);
    expect(said.length).toBeGreaterThan(0);
    expectOnce(await sealRest(data), said, 1);
  },
);
