import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dimensions, leastTime, planSweep, type SweepOptions } from '../../src/bench/sweep.ts';

const options: SweepOptions = {
  time: 240,
  transports: ['http', 'grpc'],
  values: { threads: [1, 0, 2], 'commit-delay': [0, 5] },
  connections: [16, 256],
  repeats: 2,
  least: 1,
};

describe('the plan of a sweep', () => {
  it('a sweep measures the base first, with each number of connections and over each transport', () => {
    const [first] = planSweep(options).runs;
    expect(first?.combination).toEqual({ threads: 1, 'commit-delay': 0 });
    const stages = first?.stages.map(({ transport, connections, share = 1 }) => [transport, connections, share]);
    expect(stages).toEqual([
      ['http', 16, 1],
      ['http', 256, 1],
      ['http', 256, 0.5],
      ['http', 256, 0.8],
      ['grpc', 16, 1],
      ['grpc', 16, 0.5],
      ['grpc', 16, 0.8],
    ]);
  });

  it('a sweep varies one dimension at a time, and then repeats the recommended settings and the base alternately', () => {
    expect(planSweep(options).runs.map(({ combination }) => combination)).toEqual([
      { threads: 1, 'commit-delay': 0 },
      { threads: 0, 'commit-delay': 0 },
      { threads: 2, 'commit-delay': 0 },
      { threads: 1, 'commit-delay': 5 },
      ...[undefined, { threads: 1, 'commit-delay': 0 }],
      ...[undefined, { threads: 1, 'commit-delay': 0 }],
    ]);
  });

  it('a sweep has one run of one combination if no value differs from the base', () => {
    expect(planSweep({ ...options, values: { threads: [2] } }).runs).toHaveLength(1);
  });

  it('a sweep stays within its total time limit, whatever it measures', () => {
    const list = fc.uniqueArray(fc.integer({ min: 0, max: 64 }), { minLength: 1, maxLength: 8 });
    const values = fc.record(Object.fromEntries(dimensions.map((name) => [name, list])), { requiredKeys: [] });
    const connections = fc.uniqueArray(fc.integer({ min: 1, max: 512 }), { minLength: 1, maxLength: 8 });
    const any = fc.record({
      values,
      connections,
      time: fc.nat(3_600),
      repeats: fc.integer({ min: 1, max: 2 }),
      least: fc.constantFrom(0.25, 1),
      transports: fc.constantFrom(['http'] as const, ['http', 'grpc'] as const),
    });
    fc.assert(
      fc.property(any, (given) => {
        const least = leastTime(given);
        const { expectedSeconds, runs } = planSweep(given);
        expect(expectedSeconds).toBeLessThanOrEqual(Math.max(least, given.time));
        for (const { seconds } of runs.flatMap((run) => run.stages))
          expect(seconds).toBeGreaterThanOrEqual(given.least);
      }),
    );
  });
});
