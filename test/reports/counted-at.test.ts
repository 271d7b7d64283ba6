import { describe, expect, test } from 'vitest';
import { countedAt } from '../../src/reports/counted-at.ts';
import { bucketOf, bucketWidth } from '../../src/store/blocks.ts';

const noon = Date.UTC(2026, 0, 31, 12);

describe('a report is counted', () => {
  const now = noon;
  const hour = 3_600_000;
  const { minute, hour: hours, day } = bucketWidth;
  const retention = { minutesMs: 48 * hour, hoursMs: 90 * 24 * hour, daysMs: 1826 * 24 * hour };
  test.each([
    { what: 'in the minute of its time', time: noon - 90_001, width: minute, start: noon - 120_000 },
    { what: 'at its time a little ahead', time: noon + 300_000, width: minute, start: noon + 300_000 },
    { what: 'now when it comes from the future', time: noon + 300_001, at: noon, width: minute, start: noon },
    {
      what: 'now when it comes from far away',
      time: 253_402_300_799_000,
      at: noon,
      width: minute,
      start: noon,
    },
    {
      what: 'in its minute while those are kept',
      time: noon - 48 * hour,
      width: minute,
      start: noon - 48 * hour,
    },
    { what: 'in its hour after that', time: noon - 48 * hour - 1, width: hours, start: noon - 49 * hour },
    {
      what: 'in its day after that',
      time: noon - 91 * 24 * hour,
      width: day,
      start: noon - 91.5 * 24 * hour,
    },
    { what: 'at the epoch when it is from before', time: -5_000_000, at: 0, width: day, start: 0 },
  ])('$what', ({ time, at = time, width, start }) => {
    expect(countedAt(time, now, retention)).toEqual({
      bucket: bucketOf(width, start / 60_000),
      minute: Math.floor(at / 60_000),
      at,
    });
  });
});
