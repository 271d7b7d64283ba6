import { expect, test } from 'vitest';
import { CommitWatch } from '../../../src/storage/lmdb/store-health.ts';

test.each([
  [1000, [1, 999, 1000, 2500], [1000, 2500]],
  [0, [1, 1e6], []],
])('with a threshold of %s ms, of commits of %j ms those of %j are slow', (fromMs, taken, slow) => {
  const lines: unknown[] = [];
  const log = { warn: (msg: string, fields = {}) => void lines.push({ msg, ...fields }) };
  const watch = new CommitWatch('usage', { fromMs, log });
  for (const ms of taken) watch.took(ms, { packets: 7 });
  expect(watch.times.read().count).toBe(taken.length);
  expect(lines).toEqual(slow.map((ms) => ({ msg: 'a commit was slow', store: 'usage', ms, packets: 7 })));
});
