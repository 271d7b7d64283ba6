import { describe, expect, test } from 'vitest';
import { boundsOf, presets, rangeQuery, readRange, widths } from '../../src/console/range.ts';

const hour = 3_600_000;
const day = 24 * hour;
const kept = { minutesMs: 2 * day, hoursMs: 90 * day };
const now = Date.parse('2026-11-20T12:34:56.789Z');
const time = (ms: number) => new Date(ms).toISOString();

describe('an address', () => {
  test.each([
    [{}, { preset: '7d' }],
    [{ range: '24h' }, { preset: '24h' }],
    [{ range: 'toString' }, { preset: '7d' }],
    [{ range: '1h', from: 'x', to: '2026-11-02T00:00:00Z' }, { preset: '1h' }],
    [{ from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }, { preset: '7d' }],
    [{ from: '2026-11-01T00:00:00Z' }, { preset: '7d' }],
    [
      { range: '30d', from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' },
      { from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 2) },
    ],
  ])('of %j', (query, range) => {
    expect(readRange(query)).toEqual(range);
  });

  test.each([{ preset: '30d' }, { from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 2) }] as const)(
    'has what it was given: %j',
    (range) => {
      const query = Object.entries(rangeQuery(range)).filter(([, value]) => value !== undefined);
      expect(readRange(Object.fromEntries(query) as Record<string, string>)).toEqual(range);
    },
  );

  test('keeps the relative range beside a fixed one', () => {
    expect(rangeQuery({ from: 0, to: 1 })).not.toHaveProperty('range');
  });
});

describe('the buckets of a relative range', () => {
  test.each([
    ['1h', '2026-11-20T11:35:00.000Z', '2026-11-20T12:35:00.000Z', 'minute'],
    ['24h', '2026-11-19T13:00:00.000Z', '2026-11-20T13:00:00.000Z', 'hour'],
    ['7d', '2026-11-13T13:00:00.000Z', '2026-11-20T13:00:00.000Z', 'hour'],
    ['30d', '2026-10-22T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 'day'],
  ] as const)('%s', (preset, from, to, step) => {
    const bounds = boundsOf({ preset }, now, kept);
    expect([time(bounds.from), time(bounds.to), bounds.step]).toEqual([from, to, step]);
  });

  test.each(Object.keys(presets) as (keyof typeof presets)[])('of %s include the present', (preset) => {
    for (const at of [now, Date.UTC(2026, 10, 20)]) {
      const { from, to, step } = boundsOf({ preset }, at, kept);
      expect(to - widths[step]).toBeLessThanOrEqual(at);
      expect(to).toBeGreaterThan(at);
      expect(from % widths[step]).toBe(0);
    }
  });
});

describe('the buckets of a fixed range', () => {
  test.each([
    ['three hours of today', now - 3 * hour, now, 'minute'],
    ['three hours of which the minutes are gone', now - 4 * day, now - 4 * day + 3 * hour, 'hour'],
    ['two weeks', now - 14 * day, now, 'hour'],
    ['a month', now - 30 * day, now, 'day'],
    ['a day of which the hours are gone', now - 200 * day, now - 199 * day, 'day'],
  ])('%s', (_, from, to, step) => {
    const bounds = boundsOf({ from, to }, now, kept);
    expect(bounds.step).toBe(step);
    expect(bounds.from).toBeLessThanOrEqual(from);
    expect(bounds.to).toBeGreaterThanOrEqual(to);
    expect(from - bounds.from).toBeLessThan(widths[bounds.step]);
    expect(bounds.to - to).toBeLessThan(widths[bounds.step]);
  });
});
