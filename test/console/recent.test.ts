import { expect, test } from 'vitest';
import { Recent } from '../../src/console/pages/ingest/recent.ts';
import type { ServiceStatus } from '../../src/contract/shapes/status.ts';

const begin = Date.UTC(2026, 0, 31, 12);

/** A status `seconds` after the first one. */
function statusAt(seconds: number, packetsPerSecond: number): ServiceStatus {
  return {
    at: new Date(begin + seconds * 1000).toISOString(),
    packetsPerSecond,
    reportsPerSecond: 1,
    refusedPerSecond: packetsPerSecond / 10,
    queue: { waiting: 0, limit: 10, oldestMs: 0 },
    commits: { total: 0, perSecond: 0, meanMs: null, failed: 0 },
    ready: true,
    reason: '',
    backup: null,
    cluster: null,
  };
}

test('the samples end with the last status, and are 0 before the first', () => {
  const recent = new Recent();
  for (const seconds of [0, 2, 4]) recent.add(statusAt(seconds, 10 * (seconds + 1)));
  const { start, count, taken, refused } = recent.series;
  expect(count).toBe(15);
  expect(start).toBe(begin / 1000 + 4 - 14 * 2);
  expect(taken.slice(-4)).toEqual([0, 11, 31, 51]);
  expect(refused.slice(-4)).toEqual([0, 1, 3, 5]);
});

test('a slightly late status leaves no gap', () => {
  const recent = new Recent();
  for (const seconds of [0, 2.9, 5.1, 8]) recent.add(statusAt(seconds, 10));
  expect(recent.series.taken.slice(-5)).toEqual([11, 11, 11, 11, 11]);
});

test('the samples restart after a pause', () => {
  const recent = new Recent();
  for (const seconds of [0, 2, 4, 60, 62]) recent.add(statusAt(seconds, 10));
  const { taken } = recent.series;
  expect(taken.filter((value) => value > 0)).toHaveLength(2);
});

test('the samples cover five minutes, and a repeated status counts once', () => {
  const recent = new Recent();
  for (let seconds = 0; seconds < 3600; seconds += 2) {
    recent.add(statusAt(seconds, seconds));
    recent.add(statusAt(seconds, 0));
  }
  const { count, taken, start } = recent.series;
  expect(count).toBe(150);
  expect(taken).toHaveLength(150);
  expect(taken.at(-1)).toBe(3599);
  expect(start).toBe(begin / 1000 + 3598 - 298);
});
