import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countedAt } from '../../src/ingest/counted-at.ts';
import { bucketWidth, decodeMinute, encodeBucket, horizonsAt } from '../../src/storage/lmdb/blocks.ts';

const noon = Date.UTC(2026, 0, 31, 12);

describe('countedAt', () => {
  const now = noon;
  const hour = 3_600_000;
  const { minute, hour: hours, day } = bucketWidth;
  const retention = { minutesMs: 48 * hour, hoursMs: 90 * 24 * hour, daysMs: 1826 * 24 * hour };
  test.each([
    { what: 'in the minute of its time', time: noon - 90_001, width: minute, start: noon - 120_000 },
    { what: 'now, but keeps its time 5 minutes ahead', time: noon + 300_000, width: minute, start: noon },
    { what: 'now if its time is over 5 minutes ahead', time: noon + 300_001, at: noon, width: minute, start: noon },
    { what: 'now if its time is far in the future', time: 253_402_300_799_000, at: noon, width: minute, start: noon },
    {
      what: 'in its minute while minutes are retained',
      time: noon - 48 * hour,
      width: minute,
      start: noon - 48 * hour,
    },
    { what: 'in its hour after minutes expired', time: noon - 48 * hour - 1, width: hours, start: noon - 49 * hour },
    { what: 'in its day after hours expired', time: noon - 91 * 24 * hour, width: day, start: noon - 91.5 * 24 * hour },
    {
      what: 'in its day while days are retained',
      time: noon - 1826.5 * 24 * hour,
      width: day,
      start: noon - 1826.5 * 24 * hour,
    },
    ...[noon - 1826.5 * 24 * hour - 1, 0, -5_000_000].map((time) => ({
      what: `in the oldest day that is kept for 24 more hours if its time is ${time}`,
      time,
      at: noon - 1825.5 * 24 * hour,
      width: day,
      start: noon - 1825.5 * 24 * hour,
    })),
  ])('counts a report $what', ({ time, at = time, width, start }) => {
    expect(countedAt(time, now, retention)).toEqual({
      bucket: encodeBucket(width, start / 60_000),
      minute: Math.floor(Math.min(at, now) / 60_000),
      at,
      moved: at !== time,
    });
  });

  test('countedAt moves the time of an old report to a bucket that is kept for at least 24 more hours', () => {
    const days = fc.integer({ min: 1, max: 36_500 });
    const nows = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) });
    const midnight = fc.constantFrom(-1, 0, 1).map((ms) => Date.UTC(2026, 1, 1) + ms);
    fc.assert(
      fc.property(days, fc.oneof(nows, midnight), fc.integer(), (keepDays, clock, time) => {
        const daysMs = keepDays * 24 * hour;
        const kept = { minutesMs: hour, hoursMs: 24 * hour, daysMs };
        const { bucket, at, moved } = countedAt(time, clock, kept);
        expect(moved).toBe(at !== time);
        expect(at).toBeLessThanOrEqual(clock);
        if (moved) {
          const later = horizonsAt(clock + 24 * hour - 1, kept);
          expect(decodeMinute(bucket)).toBeGreaterThanOrEqual(later.days);
        }
      }),
    );
  });
});
