import { describe, expect, it } from 'vitest';
import { sweepOptions } from '../../src/bench/options.ts';
import { planSweep } from '../../src/bench/sweep.ts';
import { readGiven } from '../../src/cli/command.ts';
import { UsageError } from '../../src/cli/options.ts';
import { bench } from '../../src/commands/entries/bench.ts';

const read = (argv: readonly string[], own = true) => sweepOptions(readGiven(bench, argv), own);

describe('the options of a sweep', () => {
  it("each list of a sweep begins with the server's default, and a sweep takes at most four minutes", () => {
    const options = read(['--threads', '1,0,2']);
    expect(options.values).toEqual({
      threads: [1, 0, 2],
      workers: [1, 2],
      'batch-packets': [4_096, 1_024, 16_384],
      'commit-delay': [2, 0, 5],
    });
    expect(planSweep(options).expectedSeconds).toBeLessThanOrEqual(240);
  });

  it('the lists of a sweep have no repetitions, and the connections are sorted', () => {
    const { values, connections } = read(['--workers', '4,4,1', '--connections', '64,8,64']);
    expect(values.workers).toEqual([4, 1]);
    expect(connections).toEqual([8, 64]);
  });

  it('a sweep of a running server varies only the connections', () => {
    expect(read(['--url', 'http://127.0.0.1:1'], false)).toMatchObject({ values: {}, transports: ['http'] });
  });

  it.each([
    [['--threads', '65'], '--threads 65: must be a whole number from 0 to 64'],
    [['--workers', '0'], '--workers 0: must be'],
    [['--commit-delay', '1,1001'], '--commit-delay 1001: must be'],
    [['--batch-packets', '1000001'], '--batch-packets 1000001: must be'],
    [['--connections', '1,,2'], '--connections : must be'],
    [['--connections', '1,2,3,4,5,6,7,8,9'], 'at most 8 values'],
    [['--time', '3601'], '--time 3601: must be'],
    [['--time', '1.5'], '--time 1.5: must be'],
  ])('a sweep refuses the options %j', (argv, message) => {
    const reading = () => read(argv);
    expect(reading).toThrow(UsageError);
    expect(reading).toThrow(message);
  });
});
