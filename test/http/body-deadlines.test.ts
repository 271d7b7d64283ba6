import { expect, test } from 'vitest';
import { BodyDeadlines } from '../../src/http/engines/limits.ts';

/** A body that receives this many bytes each second. @returns the second in which it misses its deadline */
function givenUpAfter(bytesPerSecond: number, seconds = 2_000): number | undefined {
  const deadlines = new BodyDeadlines();
  let given: number | undefined;
  let second = 0;
  const body = { received: 0, giveUp: () => (given ??= second) };
  deadlines.begin(body);
  for (second = 1; second <= seconds && given === undefined; second += 1) {
    body.received += bytesPerSecond;
    deadlines.tick();
  }
  deadlines.close();
  return given;
}

test.each([
  ['nothing', 0, 31],
  ['a byte a second', 1, 31],
  ['1 KiB a second', 1_024, 61],
  ['4 kB a second', 4_000, undefined],
])('a body that receives %s misses its deadline in time', (_, bytesPerSecond, second) => {
  expect(givenUpAfter(bytesPerSecond)).toBe(second);
});

test('a complete body misses no deadline', () => {
  const deadlines = new BodyDeadlines();
  const body = {
    received: 0,
    giveUp: () => {
      throw new Error('given up');
    },
  };
  deadlines.begin(body);
  deadlines.end(body);
  for (let second = 0; second < 100; second += 1) deadlines.tick();
  deadlines.close();
});
