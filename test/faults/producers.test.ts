import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { foldJournals } from '../../src/storage/commit/fold-journals.ts';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { bucketWidth, countsCodec, scanCells } from '../../src/storage/lmdb/blocks.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { type DiskFault, failingDisk } from '../support/failing-disk.ts';
import { needing } from '../support/needing.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const threads = 4;
const maxMinute = 1_000_000;

/** The output of a process, grouped by thread. */
interface ThreadOutput {
  readonly kept: number[];
  readonly refused: { readonly number: number; readonly error: string }[];
}

/**
 * Commits from several threads to one journal, until the process ends.
 * @param first the number of each thread's first batch
 * @param strike called when some batches of every thread are on disk
 */
function commit(
  data: string,
  first: number,
  strike: (child: ChildProcess) => void,
  env: Readonly<Record<string, string>> = {},
): Promise<ThreadOutput[]> {
  const args = ['test/faults/producers-process.ts', data, `${threads}`, `${first}`];
  const child = spawn(join(root, 'node_modules/.bin/bun'), args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const outputs = Array.from({ length: threads }, (): ThreadOutput => ({ kept: [], refused: [] }));
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const [thread, number, outcome] = line.split(' ') as [string, string, string];
      const { kept, refused } = outputs[Number(thread)]!;
      if (outcome === 'kept') kept.push(Number(number));
      else refused.push({ number: Number(number), error: outcome });
    }
    if (Math.min(...outputs.map(({ kept }) => kept.length)) >= 20) strike(child);
  });
  return new Promise((resolve) => child.on('close', () => resolve(outputs)));
}

/** Creates a data directory with accounts. Without accounts, the counts would be refused. */
async function preparedDirectory(): Promise<string> {
  const data = temporaryDirectory();
  await openAccountTables(data).lmdb.close();
  return data;
}

/**
 * Folds the journals, and returns the numbers of the counted batches by thread. Expects each batch to be counted once.
 */
async function countedIn(data: string): Promise<number[][]> {
  await foldJournals(data, 100);
  const store = openUsageTables(data);
  const counted = Array.from({ length: threads }, (): number[] => []);
  for (const cell of scanCells(store.counts, countsCodec, 1, bucketWidth.minute, 0, maxMinute)) {
    expect(cell.value.checks).toBe(1);
    counted[cell.ordinal]!.push(cell.minute);
  }
  await store.lmdb.close();
  return counted;
}

test('batches that several threads committed are counted once after the process was killed at any time', async () => {
  const data = await preparedDirectory();
  const kept = Array.from({ length: threads }, (): number[] => []);
  for (let first = 0; first < maxMinute; first += maxMinute / 2) {
    const outputs = await commit(data, first, (child) => child.kill('SIGKILL'));
    const counted = await countedIn(data);
    for (const [thread, answer] of outputs.entries()) {
      kept[thread]!.push(...answer.kept);
      const next = 1 + answer.kept.at(-1)!; // The next batch can be on disk although its response was not received.
      if (counted[thread]!.at(-1) === next) kept[thread]!.push(next);
    }
    expect(counted).toEqual(kept);
  }
});

needing('g++').test.each<DiskFault>(['FAILING_FLUSH', 'FAILING_FLUSHES', 'SHORT_FRAME'])(
  'every thread gets a refusal after the fault %s, and the next startup counts acknowledged batches',
  async (fault) => {
    const data = await preparedDirectory();
    const { env, fail } = failingDisk(fault);
    const outputs = await commit(data, 0, fail, env);
    for (const { kept, refused } of outputs)
      expect(refused).toEqual([{ number: 1 + kept.at(-1)!, error: 'CommitError' }]);
    expect(await countedIn(data)).toEqual(outputs.map(({ kept }) => kept));
  },
);
