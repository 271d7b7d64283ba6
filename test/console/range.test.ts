import { describe, expect, test } from 'vitest';
import {
  comparedWith,
  computeBounds,
  endsNow,
  localInput,
  overviewQuery,
  presets,
  rangeQuery,
  readRange,
  timeOfInput,
  widths,
} from '../../src/console/address/range.ts';

const hour = 3_600_000;
const day = 24 * hour;
const kept = { minutesMs: 2 * day, hoursMs: 90 * day };
const now = Date.parse('2026-11-20T12:34:56.789Z');
const time = (ms: number) => new Date(ms).toISOString();

describe('an address', () => {
  test.each([
    [{}, { preset: '7d' }],
    [{ range: '24h' }, { preset: '24h' }],
    [{ range: 'last-week' }, { preset: 'last-week' }],
    [{ range: '1970-01-03' }, { first: 2, last: 2 }],
    [{ range: '1970-01-03..1970-01-05' }, { first: 2, last: 4 }],
    [{ range: '1970-01-05..1970-01-03' }, { preset: '7d' }],
    [{ range: '1970-13-40' }, { preset: '7d' }],
    [{ range: '2026-02-30' }, { preset: '7d' }],
    [{ range: '1969-12-31..1970-01-02' }, { preset: '7d' }],
    [{ range: 'toString' }, { preset: '7d' }],
    [{ range: '1h', from: 'x', to: '2026-11-02T00:00:00Z' }, { preset: '1h' }],
    [{ from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }, { preset: '7d' }],
    [{ from: '2026-11-01T00:00:00Z' }, { preset: '7d' }],
    [
      { range: '30d', from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' },
      { from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 2) },
    ],
  ])('an address with the query %j selects the range %j', (query, range) => {
    expect(readRange(query)).toEqual(range);
  });

  test.each([
    { preset: '30d' },
    { first: 2, last: 2 },
    { first: 2, last: 4 },
    { from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 2) },
  ] as const)('the page address of the range %j is read as the same range', (range) => {
    const query = Object.entries(rangeQuery(range)).filter(([, value]) => value !== undefined);
    expect(readRange(Object.fromEntries(query) as Record<string, string>)).toEqual(range);
  });

  test('the query of a fixed range does not remove the previous relative range from the page address', () => {
    expect(rangeQuery({ from: 0, to: 1 })).not.toHaveProperty('range');
  });
});

describe('the buckets of a relative range', () => {
  test.each([
    ['1h', '2026-11-20T11:35:00.000Z', '2026-11-20T12:35:00.000Z', 'minute'],
    ['24h', '2026-11-19T13:00:00.000Z', '2026-11-20T13:00:00.000Z', 'hour'],
    ['7d', '2026-11-13T13:00:00.000Z', '2026-11-20T13:00:00.000Z', 'hour'],
    ['30d', '2026-10-22T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 'day'],
  ] as const)('the buckets of the relative range %s last from %s to %s, by %s', (preset, from, to, step) => {
    const bounds = computeBounds({ preset }, now, kept);
    expect([time(bounds.from), time(bounds.to), bounds.step]).toEqual([from, to, step]);
  });

  const current = (Object.keys(presets) as (keyof typeof presets)[]).filter((preset) =>
    endsNow({ preset }, now, 'UTC'),
  );
  test.each(current)('the buckets of the relative range %s include the present time', (preset) => {
    for (const at of [now, Date.UTC(2026, 10, 20)]) {
      const { from, to, step } = computeBounds({ preset }, at, kept);
      expect(to - widths[step]).toBeLessThanOrEqual(at);
      expect(to).toBeGreaterThan(at);
      expect(from % widths[step]).toBe(0);
    }
  });
});

describe('the buckets of a fixed range', () => {
  test.each([
    ['three hours of today', now - 3 * hour, now, 'minute'],
    ['three hours without kept minutes', now - 4 * day, now - 4 * day + 3 * hour, 'hour'],
    ['two weeks', now - 14 * day, now, 'hour'],
    ['a month', now - 30 * day, now, 'day'],
    ['a day without kept hours', now - 200 * day, now - 199 * day, 'day'],
  ])('the buckets of the fixed range "%s" have a suitable width', (_, from, to, step) => {
    const bounds = computeBounds({ from, to }, now, kept);
    expect(bounds.step).toBe(step);
    expect(bounds.from).toBeLessThanOrEqual(from);
    expect(bounds.to).toBeGreaterThanOrEqual(to);
    expect(from - bounds.from).toBeLessThan(widths[bounds.step]);
    expect(bounds.to - to).toBeLessThan(widths[bounds.step]);
  });
});

describe('the ranges of the calendar', () => {
  const sunday = '2026-11-01T23:30:00Z'; // A time on Monday in Berlin, and on Sunday in New York, where clocks changed on that day.
  test.each([
    ['today', 'Europe/Berlin', '2026-11-01T23:00Z 2026-11-02T00:00Z hour'],
    ['today', 'America/New_York', '2026-11-01T04:00Z 2026-11-02T00:00Z hour'],
    ['yesterday', 'Europe/Berlin', '2026-10-31T23:00Z 2026-11-01T23:00Z hour'],
    ['yesterday', 'America/New_York', '2026-10-31T04:00Z 2026-11-01T04:00Z hour'],
    ['this-week', 'Europe/Berlin', '2026-11-01T23:00Z 2026-11-02T00:00Z hour'],
    ['this-week', 'America/New_York', '2026-10-26T04:00Z 2026-11-02T00:00Z hour'],
    ['last-week', 'Europe/Berlin', '2026-10-25T23:00Z 2026-11-01T23:00Z hour'],
    ['last-week', 'America/New_York', '2026-10-19T04:00Z 2026-10-26T04:00Z hour'],
    ['this-month', 'Europe/Berlin', '2026-10-31T23:00Z 2026-11-02T23:00Z day'],
    ['this-month', 'America/New_York', '2026-11-01T04:00Z 2026-11-02T05:00Z day'],
    ['last-month', 'Europe/Berlin', '2026-09-30T22:00Z 2026-10-31T23:00Z day'],
    ['last-month', 'UTC', '2026-10-01T00:00Z 2026-11-01T00:00Z day'],
    ['30d', 'Europe/Berlin', '2026-10-03T22:00Z 2026-11-02T23:00Z day'],
  ] as const)('the calendar range %s in %s has the bounds %s', (preset, zone, expected) => {
    const bounds = computeBounds({ preset }, Date.parse(sunday), kept, zone);
    const [from, to] = [bounds.from, bounds.to].map((at) => time(at).replace(':00.000', ''));
    expect(`${from} ${to} ${bounds.step}`).toBe(expected);
    expect(bounds.zone).toBe(zone);
  });

  test('calendar ranges use UTC days if hours are not retained, or if local days begin within a UTC hour', () => {
    const old = { first: Date.UTC(2026, 0, 5) / day, last: Date.UTC(2026, 0, 25) / day };
    expect(computeBounds(old, now, kept, 'Europe/Berlin')).toMatchObject({ zone: 'UTC', from: Date.UTC(2026, 0, 5) });
    expect(computeBounds({ preset: 'today' }, now, kept, 'Asia/Kolkata')).toMatchObject({ zone: 'UTC' });
    expect(computeBounds({ preset: '24h' }, now, kept, 'Asia/Kolkata')).not.toHaveProperty('zone');
  });

  test.each([
    [{ preset: 'today' }, 'previous', 'day', 'vs the day before'],
    [{ preset: 'last-week' }, 'previous', 'week', 'vs previous week'],
    [{ preset: 'this-month' }, 'previous', 'month', 'vs previous month'],
    [{ preset: '7d' }, 'previous', undefined, 'vs previous 7 days'],
    [{ preset: '7d' }, 'year', 'year', 'vs 52 weeks before'],
    [{ first: 1, last: 1 }, 'previous', 'day', 'vs the day before'],
    [{ first: 1, last: 3 }, 'previous', undefined, 'vs previous period'],
    [{ from: 0, to: 1 }, 'none', 'none', 'vs previous period'],
  ] as const)('the range %j with the comparison %s has the label $3', (range, comparison, parameter, words) => {
    const bounds = computeBounds(range, now, kept, 'UTC');
    expect(overviewQuery(range, bounds, comparison)['compare']).toBe(parameter);
    if (comparison !== 'none') expect(comparedWith(range, comparison)).toBe(words);
  });
});

test.each([
  ['Europe/Berlin', '2026-11-20T13:34'],
  ['Asia/Kolkata', '2026-11-20T18:04'],
  ['UTC', '2026-11-20T12:34'],
])('localInput formats a time in %s so that a time field accepts it', (zone, text) => {
  expect(localInput(now, zone)).toBe(text);
  expect(timeOfInput(text, zone)).toBe(Math.floor(now / 60_000) * 60_000);
  expect(timeOfInput('', zone)).toBeNaN();
});
