import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dayAt,
  daysBetween,
  daysFromHours,
  isTimeZone,
  monthsBefore,
  offsetAt,
  startOfDay,
  startOfMonth,
  startOfWeek,
  userDays,
} from '../../src/contract/calendar.ts';

const hourMs = 3_600_000;
const dayMs = 86_400_000;
const day = (date: string) => Date.parse(`${date}T00:00:00Z`) / dayMs;
const time = (at: number) => new Date(at).toISOString().replace(':00.000Z', 'Z');

test.each([
  ['Europe/Berlin', '2026-11-23', '2026-11-22T23:00Z'],
  ['Europe/Berlin', '2026-07-01', '2026-06-30T22:00Z'],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00Z'],
  ['America/New_York', '2026-11-02', '2026-11-02T05:00Z'],
  ['Asia/Kolkata', '2026-11-23', '2026-11-22T18:30Z'],
  ['Pacific/Auckland', '2026-11-23', '2026-11-22T11:00Z'],
  ['UTC', '2026-11-23', '2026-11-23T00:00Z'],
  // Days on which clocks skip midnight or repeat the hour before midnight.
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00Z'],
  ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00Z'],
  ['America/Havana', '2026-11-01', '2026-11-01T04:00Z'],
])('the day in the zone %s with the date %s begins at %s', (zone, date, start) => {
  expect(time(startOfDay(zone, day(date)))).toBe(start);
});

test.each([
  ['2026-03-28', '2026-03-31', [23, 24]],
  ['2026-10-24', '2026-10-27', [25, 24]],
])('the last days in Berlin between %s and %s have %j hours, because the clocks change', (from, to, hours) => {
  const starts = daysBetween('Europe/Berlin', Date.parse(`${from}T22:00Z`), Date.parse(`${to}T00:00Z`));
  const lengths = starts.slice(1).map((start, index) => (start - starts[index]!) / hourMs);
  expect(lengths.slice(-hours.length)).toEqual(hours);
});

const zones = fc.constantFrom(
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland', 'Australia/Lord_Howe'],
  ...['Africa/Cairo', 'America/Havana', 'Pacific/Chatham', 'Pacific/Apia', 'Africa/Casablanca', 'Asia/Tokyo'],
);
const times = fc.integer({ min: Date.UTC(2010, 0), max: Date.UTC(2035, 0) });

describe('the days of a zone', () => {
  test('a day of a zone contains all of its times, and no other times', () => {
    fc.assert(
      fc.property(zones, times, (zone, at) => {
        const today = dayAt(zone, at);
        const start = startOfDay(zone, today);
        expect(start).toBeLessThanOrEqual(at);
        expect(startOfDay(zone, today + 1)).toBeGreaterThan(at);
        expect(dayAt(zone, start)).toBe(today);
        expect(dayAt(zone, start - 1)).toBeLessThan(today);
      }),
    );
  });

  test('the days of a zone cover a range without overlap', () => {
    fc.assert(
      fc.property(zones, times, fc.integer({ min: 1, max: 40 * dayMs }), (zone, from, length) => {
        const starts = daysBetween(zone, from, from + length);
        expect(starts[0]).toBeLessThanOrEqual(from);
        expect(starts.at(-1)).toBeLessThan(from + length);
        for (const [index, start] of starts.slice(1).entries()) {
          const hours = (start - starts[index]!) / hourMs;
          expect(hours).toBeGreaterThanOrEqual(22);
          expect(hours).toBeLessThanOrEqual(26);
        }
        expect(new Set(starts.map((start) => dayAt(zone, start))).size).toBe(starts.length);
      }),
      { numRuns: 50 },
    );
  });
});

test('daysFromHours returns days only if their hours are retained and each day begins at a whole hour', () => {
  const from = Date.UTC(2026, 10, 1);
  const to = Date.UTC(2026, 10, 8);
  expect(daysFromHours('Europe/Berlin', from, to, 0)).toHaveLength(8);
  expect(daysFromHours('Europe/Berlin', from, to, from + 1)).toBeUndefined();
  expect(daysFromHours('Europe/Berlin', from, from + 36 * dayMs, 0)).toBeUndefined();
  expect(daysFromHours('Asia/Kolkata', from, to, 0)).toBeUndefined();
  expect(daysFromHours('UTC', from, to, 0)).toBeUndefined();
});

test('the offset of a time zone depends on the date', () => {
  expect(offsetAt('Europe/Berlin', Date.UTC(2026, 6, 1)) / hourMs).toBe(2);
  expect(offsetAt('Europe/Berlin', Date.UTC(2026, 11, 1)) / hourMs).toBe(1);
  expect(offsetAt('Asia/Kolkata', Date.UTC(2026, 11, 1)) / hourMs).toBe(5.5);
});

test('startOfWeek returns a Monday, and startOfMonth the first day of the month', () => {
  expect(startOfWeek(day('2026-11-23'))).toBe(day('2026-11-23'));
  expect(startOfWeek(day('2026-11-29'))).toBe(day('2026-11-23'));
  expect(startOfWeek(day('1969-12-31'))).toBe(day('1969-12-29'));
  expect(startOfMonth(day('2026-11-23'))).toBe(day('2026-11-01'));
  expect(startOfMonth(day('2026-01-31'), -1)).toBe(day('2025-12-01'));
  expect(monthsBefore(day('2026-03-31'), 1)).toBe(day('2026-02-28'));
  expect(monthsBefore(day('2026-03-01'), 1)).toBe(day('2026-02-01'));
});

test.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Etc/GMT+5', true],
  ['America/Argentina/Buenos_Aires', true],
  ['+01:00', false],
  ['Europe/Atlantis', false],
  ['', false],
  ['../UTC', false],
])('the text %j is the name of a time zone: %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});

test.each([
  [
    'begins with a day of the zone',
    'Europe/Berlin',
    '2026-10-24T22:00Z',
    '2026-11-23T23:00Z',
    '2026-10-25',
    '2026-11-24',
  ],
  ['begins within a day', 'Europe/Berlin', '2026-11-22T18:00Z', '2026-11-23T18:00Z', '2026-11-22', '2026-11-24'],
  ['has no zone', undefined, '2026-11-22T23:00Z', '2026-11-23T23:00Z', '2026-11-22', '2026-11-24'],
])('userDays returns the UTC days of a range that %s', (_, zone, from, to, first, end) => {
  expect(userDays(Date.parse(from), Date.parse(to), zone)).toEqual({ from: day(first), to: day(end) });
});
