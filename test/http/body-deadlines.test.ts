import { expect, test, vi } from 'vitest';
import { BodyDeadlines } from '../../src/http/engines/limits.ts';

/**
 * Simulates a body that receives this many bytes a second.
 * @returns the second in which the body is aborted
 */
function givenUpAfter(bytesPerSecond: number, isRefused = false, seconds = 2_000): number | undefined {
  const deadlines = new BodyDeadlines();
  let given: number | undefined;
  let second = 0;
  const body = { received: 0, isRefused, giveUp: () => (given ??= second) };
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
])('a body that receives %s has a deadline of 30 seconds plus one second per 2 KiB', (_, bytesPerSecond, second) => {
  expect(givenUpAfter(bytesPerSecond)).toBe(second);
});

test.each([
  ['nothing', 0, 6],
  ['1 KiB a second', 1_024, 11],
  ['4 kB a second', 4_000, undefined],
])('a refused body that receives %s has an earlier deadline than other bodies', (_, bytesPerSecond, second) => {
  expect(givenUpAfter(bytesPerSecond, true)).toBe(second);
});

test('a refused body is aborted a few seconds after its last bytes, even if it received many bytes', () => {
  const deadlines = new BodyDeadlines();
  const body = { received: 10_000_000, isRefused: true, giveUp: vi.fn() };
  deadlines.begin(body);
  for (let second = 0; second < 5; second += 1) deadlines.tick();
  expect(body.giveUp).not.toHaveBeenCalled();
  for (let second = 0; second < 6; second += 1) deadlines.tick();
  expect(body.giveUp).toHaveBeenCalledOnce();
  deadlines.close();
});

test('a complete body never misses its deadline', () => {
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
