import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Histogram } from '../../src/runtime/histogram.ts';

const bounds = [1, 4, 16];

test('a histogram counts a value in the first bucket whose bound is at least the value', () => {
  const histogram = new Histogram(bounds);
  for (const value of [0, 1, 1.5, 4, 16, 16.1, 1e9]) histogram.observe(value);
  expect(histogram.read()).toEqual({ counts: [2, 2, 1, 2], count: 7, sum: 0 + 1 + 1.5 + 4 + 16 + 16.1 + 1e9 });
});

test('a histogram counts every value in the bucket whose bounds contain it', () => {
  const integers = fc.array(fc.integer({ min: 0, max: 100 }));
  fc.assert(
    fc.property(integers, (values) => {
      const histogram = new Histogram(bounds);
      for (const value of values) histogram.observe(value);
      const { counts, count, sum } = histogram.read();
      const within = (low: number, high: number) => values.filter((value) => value > low && value <= high).length;
      expect(counts).toEqual([within(-1, 1), within(1, 4), within(4, 16), within(16, Number.POSITIVE_INFINITY)]);
      expect([count, sum]).toEqual([values.length, values.reduce((all, value) => all + value, 0)]);
    }),
  );
});

test('a histogram includes the counts that another thread adds in shared memory', async () => {
  const shared = Histogram.shared(bounds);
  const code = `const { workerData } = require('node:worker_threads'); new Float64Array(workerData)[1] += 5;`;
  const worker = new Worker(code, { eval: true, workerData: shared.memory });
  await new Promise((resolve) => worker.once('exit', resolve));
  expect(shared.read().counts).toEqual([0, 5, 0, 0]);
});
