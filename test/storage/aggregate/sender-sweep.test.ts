import { expect, test } from 'vitest';
import { createAggregator } from '../../../src/storage/commit/aggregator.ts';
import { Batch } from '../../../src/storage/commit/batch.ts';
import { readSenders, senderLife, slotMs } from '../../../src/storage/lmdb/senders.ts';
import { temporaryUsage } from '../../support/temporary-usage.ts';

const environment = 3;
const sender = { name: 'app', version: '1', transport: 'http', route: 'telemetry' } as const;
const horizons = { minutes: 0, hours: 0, days: 0 };

test('upkeep visits all senders of an environment once a day, in small steps', () => {
  const store = temporaryUsage();
  const { write, maintain } = createAggregator(store);
  const batch = new Batch();
  for (let ordinal = 0; ordinal < 20; ordinal += 1) batch.senders.push({ environment, ordinal, slot: ordinal, sender });
  write(batch.seal());
  const roundAt = (now: number) => {
    const step = { task: 'retention', environment, horizons, now, exposureDays: 30, limit: 8 } as const;
    let steps = 0;
    while (maintain(step) > 0) steps += 1;
    return steps;
  };
  const left = () => {
    store.senders.resetReadTxn();
    return Array.from({ length: 20 }, (_, ordinal) => readSenders(store, environment, ordinal).length).reduce(
      (sum, count) => sum + count,
    );
  };
  const after = (slots: number) => (senderLife + slots) * slotMs;
  expect([roundAt(after(0)), left()]).toEqual([2, 20]);
  expect([roundAt(after(10)), left()]).toEqual([0, 20]);
  expect([roundAt(after(145)), left()]).toEqual([2, 0]);
});
