import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { queryReader } from '../../src/http/query-reader.ts';
import { compare, overviewRange, readOverviewRange } from '../../src/reports/overview/overview-range.ts';
import { daysText, type ReportRange, splitUserDays } from '../../src/reports/usage/report-range.ts';
import { floorToBucket, horizonsAt } from '../../src/storage/lmdb/blocks.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
const retention = { minutesMs: 48 * hourMs, hoursMs: 90 * dayMs, daysMs: 1825 * dayMs };
const now = Date.UTC(2026, 2, 29, 14, 17, 30); // On this day Europe changes its clocks.

const readQuery = queryReader(overviewRange);
const at = (minute: number) => new Date(minute * minuteMs).toISOString().slice(0, 16);
const span = ({ from, to }: { from: number; to: number }) => `${at(from)} ${at(to)}`;

function readRanges(query: Record<string, string>) {
  return readOverviewRange(readQuery(String(new URLSearchParams(query))), now, retention);
}

/** Returns the complete days, or the first incomplete day. */
function daysOf(range: ReportRange) {
  const { whole, rest } = splitUserDays(range);
  return whole.from < whole.to ? whole : rest;
}

test.each([
  ['are complete', '2026-03-20T10:00:00Z', '2026-04-20T00:00:00Z', ['2026-03-20', '2026-03-28']],
  ['are today if no day is complete', '2026-03-29T14:00:00Z', '2026-03-29T14:10:00Z', ['2026-03-29', '2026-03-29']],
  [
    'do not end with today if the range is in the future',
    '2030-01-01T00:00:00Z',
    '2030-02-01T00:00:00Z',
    ['2030-01-01', '2030-01-01'],
  ],
])('the UTC days whose users an overview counts %s', (_, from, to, days) => {
  const { range } = readRanges({ from, to, step: 'day' });
  expect(Object.values(daysText(daysOf(range)))).toEqual(days);
});

test.each([
  ['2026-03-27T23:00:00Z', '2026-03-28T22:00:00Z', ['2026-03-28', '2026-03-28']],
  ['2026-03-22T23:00:00Z', '2026-03-29T22:00:00Z', ['2026-03-23', '2026-03-28']],
  ['2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z', ['2026-03-28', '2026-03-28']],
])('users from %s until %s in Berlin are counted on the UTC days with the same dates', (from, to, days) => {
  const { range } = readRanges({ from, to, timeZone: 'Europe/Berlin', step: 'hour' });
  expect(Object.values(daysText(daysOf(range)))).toEqual(days);
});

test.each(['Europe/Atlantis', '+01:00', 'Europe/Berlin\n'])('the unknown time zone %j is refused', (timeZone) => {
  expect(() => readRanges({ timeZone })).toThrow(JSON.stringify(timeZone));
});

test.each([
  ['the default is seven days by hour', {}, 'hour', '2026-03-22T14:00 2026-03-29T14:18'],
  ['six hours are by minute', { from: '2026-03-29T08:18:00Z' }, 'minute', '2026-03-29T08:18 2026-03-29T14:18'],
  ['longer ranges are by hour', { from: '2026-03-29T08:17:00Z' }, 'hour', '2026-03-29T08:17 2026-03-29T14:18'],
  ['a month is by day', { from: '2026-03-01T00:00:00Z' }, 'day', '2026-03-01T00:00 2026-03-29T14:18'],
  [
    'a requested range and step apply, even over a change of clocks',
    { from: '2026-03-28T23:00:00Z', to: '2026-03-29T22:00:00Z', step: 'day' },
    'day',
    '2026-03-28T23:00 2026-03-29T22:00',
  ],
  [
    'old data is in whole hours and days',
    { from: '2025-12-01T12:30:00Z', to: '2026-03-20T10:30:00Z' },
    'day',
    '2025-12-01T00:00 2026-03-20T11:00',
  ],
])('the range of an overview: %s', (_name, query, step, expected) => {
  const { range } = readRanges(query as Record<string, string>);
  expect([range.step, span(range)]).toEqual([step, expected]);
});

describe('the previous range', () => {
  test.each([
    [
      'the last six hours are compared with the six hours before',
      { from: '2026-03-29T08:18:00Z' },
      '2026-03-29T08:18 2026-03-29T14:18',
      '2026-03-29T02:18 2026-03-29T08:18',
    ],
    [
      'the last seven days omit the minutes of this hour, since only hours are kept of the previous range',
      {},
      '2026-03-22T14:00 2026-03-29T14:00',
      '2026-03-15T14:00 2026-03-22T14:00',
    ],
    [
      'a day that is not over is compared up to the present time of day',
      { from: '2026-03-29T00:00:00Z', to: '2026-03-30T00:00:00Z' },
      '2026-03-29T00:00 2026-03-29T14:18',
      '2026-03-28T00:00 2026-03-28T14:18',
    ],
    [
      'a week that is not over is compared by whole hours',
      { from: '2026-03-23T00:00:00Z', to: '2026-03-30T00:00:00Z' },
      '2026-03-23T00:00 2026-03-29T14:00',
      '2026-03-16T00:00 2026-03-22T14:00',
    ],
    [
      'the last ninety days omit some hours, since only days are kept of the previous range',
      { from: '2025-12-29T14:18:00Z' },
      '2025-12-29T14:00 2026-03-29T04:00',
      '2025-10-01T00:00 2025-12-29T14:00',
    ],
  ])('comparison with the previous range: %s', (_name, query, against, before) => {
    const { comparison } = readRanges(query as Record<string, string>);
    expect([comparison && span(comparison.against), comparison && span(comparison.before)]).toEqual([against, before]);
  });

  test.each([
    ['day', '2026-03-29T00:00:00Z', '2026-03-29T00:00 2026-03-29T14:18', '2026-03-28T00:00 2026-03-28T14:18'],
    ['week', '2026-03-23T00:00:00Z', '2026-03-23T00:00 2026-03-29T14:00', '2026-03-16T00:00 2026-03-22T14:00'],
    ['month', '2026-03-01T00:00:00Z', '2026-03-01T00:00 2026-03-29T00:00', '2026-02-01T00:00 2026-03-01T00:00'],
    ['year', '2026-03-27T00:00:00Z', '2026-03-27T00:00 2026-03-29T00:00', '2025-03-28T00:00 2025-03-30T00:00'],
  ])('compare=%s with a range from %s selects the previous range', (compare, from, against, before) => {
    const { comparison } = readRanges({ from, compare });
    expect([comparison && span(comparison.against), comparison && span(comparison.before)]).toEqual([against, before]);
  });

  test.each([
    // Clocks are put forward on 29 March in Berlin. This day has 23 hours, and begins at 23:00Z.
    ['day', '2026-03-28T23:00:00Z', '2026-03-28T23:00 2026-03-29T14:18', '2026-03-27T23:00 2026-03-28T14:18'],
    ['week', '2026-03-22T23:00:00Z', '2026-03-22T23:00 2026-03-29T14:00', '2026-03-15T23:00 2026-03-22T14:00'],
    ['month', '2026-02-28T23:00:00Z', '2026-02-28T23:00 2026-03-28T23:00', '2026-01-31T23:00 2026-02-28T23:00'],
    // Only UTC days of that year are kept, so the UTC days with the same dates are compared.
    ['year', '2026-03-26T23:00:00Z', '2026-03-26T23:00 2026-03-28T23:00', '2025-03-28T00:00 2025-03-30T00:00'],
  ])('compare=%s since %s selects a range that begins with a day in Berlin', (compare, from, against, before) => {
    const { comparison } = readRanges({ from, compare, timeZone: 'Europe/Berlin' });
    expect([comparison && span(comparison.against), comparison && span(comparison.before)]).toEqual([against, before]);
  });

  test('compare=none omits the previous range', () => {
    expect(readRanges({ compare: 'none' }).comparison).toBeUndefined();
  });

  test('an overview has no previous range if its data is not kept, or if the range is in the future', () => {
    expect(readRanges({ from: '2022-01-01T00:00:00Z' }).comparison).toBeUndefined();
    expect(readRanges({ from: '2026-04-01T00:00:00Z', to: '2026-04-02T00:00:00Z' }).comparison).toBeUndefined();
  });

  test('the previous range is as long as the range, consists of whole buckets, and does not overlap the range', () => {
    const horizons = horizonsAt(now, retention);
    const nowMinute = Math.floor(now / minuteMs);
    const property = fc.property(fc.nat({ max: 200_000 }), fc.integer({ min: 1, max: 300_000 }), (ago, length) => {
      const from = floorToBucket(nowMinute - ago, horizons);
      const range = { from, to: from + length };
      const comparison = compare(range, now, horizons);
      if (comparison === undefined) return;
      const { against, before } = comparison;
      expect(before.to - before.from).toBe(against.to - against.from);
      expect(against.from).toBe(from);
      expect(against.to).toBeLessThanOrEqual(Math.min(range.to, nowMinute + 1));
      expect(before.to).toBeLessThanOrEqual(against.from);
      for (const minute of [before.from, before.to, against.from, against.to]) {
        expect(floorToBucket(minute, horizons)).toBe(minute);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });
});
