import { expect, onTestFinished, test } from 'vitest';
import { ReadingScheduler } from '../../src/reports/reading-scheduler.ts';
import type { Reading } from '../../src/storage/lmdb/snapshot.ts';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** Creates a scheduler whose clock advances by 4 ms each time it is read. A time slice then has three steps. */
function open() {
  const { lmdb } = openUsageTables(temporaryDirectory());
  onTestFinished(() => lmdb.close());
  let now = 0;
  const clock = {
    monotonic() {
      now += 4;
      return now;
    },
  };
  const steps: string[] = [];
  function* read(name: string, length: number): Reading<string> {
    try {
      for (let step = 0; step < length; step += 1) {
        steps.push(name);
        yield;
      }
    } finally {
      steps.push(`${name} ends`);
    }
    return name;
  }
  return { turns: new ReadingScheduler(lmdb, clock), read, steps };
}

test('ReadingScheduler finishes a short reading while a long reading continues', async () => {
  const { turns, read, steps } = open();
  const long = turns.finish(read('long', 9));
  expect(await turns.finish(read('short', 1))).toBe('short');
  expect(steps.filter((name) => name === 'long').length).toBeLessThan(9);
  expect(await long).toBe('long');
});

test('ReadingScheduler closes the reading in progress when the thread stops', async () => {
  const { turns, read, steps } = open();
  const refused = expect(turns.finish(read('long', 1e6))).rejects.toMatchObject({ code: 'store_unavailable' });
  await turns.end();
  await refused;
  expect(steps.at(-1)).toBe('long ends');
});
