import { describe, expect, test } from 'vitest';
import { createFormats, periodMs, seenText } from '../../src/console/text/format.ts';

const english = createFormats('en-US', 'Europe/Berlin');
const german = createFormats('de-DE', 'America/New_York');
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.parse('2026-11-20T12:00:00Z');

describe('numbers', () => {
  test.each([
    [0, '0'],
    [12, '12'],
    [100, '100 ± 2'],
    [3382, '3,380 ± 70'],
    [5542, '5,540 ± 110'],
    [12_345, '12,300 ± 200'],
    [999_999, '1.00M ± 0.02M'],
    [1_234_567, '1.23M ± 0.02M'],
    [75_000_000, '75.0M ± 1.5M'],
  ])('the number of people %d is shown with its error as %s', (count, text) => {
    expect(english.people(count)).toBe(text);
  });

  test.each([
    [0, '0', '0'],
    [312, '312', '312'],
    [999, '999', '999'],
    [1000, '1,000', '1.0k'],
    [48_123, '48,123', '48.1k'],
    [312_456, '312,456', '312k'],
    [999_499, '999,499', '999k'],
    [999_500, '999,500', '1.0M'],
    [4_123_456, '4,123,456', '4.1M'],
    [75_000_000, '75,000,000', '75.0M'],
    [2_000_000_000, '2,000,000,000', '2.0B'],
    [-48_123, '-48,123', '-48.1k'],
    [12.34, '12.34', '12.3'],
  ])('the number %d has the full form %s and the short form %s', (value, full, compact) => {
    expect(english.full(value)).toBe(full);
    expect(english.compact(value)).toBe(compact);
  });

  test('short numbers have the same unit letters in every locale', () => {
    for (const locale of ['en-GB', 'en-US', 'en-IN', 'de-DE'])
      expect(createFormats(locale).compact(75_000_000)).toMatch(/^75[.,]0M$/);
  });

  test('numbers on an axis have no trailing zeros', () => {
    expect([0, 500, 1500, 20_000, 75_000_000].map(english.tick)).toEqual(['0', '500', '1.5k', '20k', '75M']);
  });

  test('numbers are formatted for the locale', () => {
    expect(german.full(4_123_456.5)).toBe('4.123.456,5');
  });

  test.each([
    [2, 5, '40%'],
    [1, 3, '33%'],
    [1, 24, '4.2%'],
    [0, 7, '0%'],
    [7, 7, '100%'],
    [3500, 75_000_000, '<0.1%'],
    [5, 1000, '0.5%'],
    [1991, 2000, '99.6%'],
    [74_999_999, 75_000_000, '>99.9%'],
    [0, 0, '–'],
  ])('%d of %d is formatted as the share %s', (part, whole, text) => {
    expect(english.rate(part, whole)).toBe(text);
  });
});

describe('quantities', () => {
  test.each([
    [undefined, undefined, '–'],
    [42.5, 'EUR', '42.5 EUR'],
    [1234.567, 'ms', '1,234.57 ms'],
    [0.001_234, 's', '0.00123 s'],
    [1_234_567, undefined, '1.2M'],
    [75_123_456.78, 'EUR', '75.1M EUR'],
    [99_999, 'EUR', '99,999 EUR'],
  ])('the quantity %d with the unit %s is formatted as %s', (value, unit, text) => {
    expect(english.quantity(value, unit)).toBe(text);
  });
});

describe('times', () => {
  test('times are shown in the reader’s time zone', () => {
    expect(english.clock('2026-11-20T12:00:00Z')).toMatch(/^1:00\sPM$/);
    expect(german.clock('2026-11-20T12:00:00Z')).toBe('07:00');
    expect(english.place).toBe('Berlin');
    expect(german.place).toBe('New York');
  });

  test('the local times of UTC days are shown only in time zones other than UTC', () => {
    const times = english.dayTimes('2026-11-17', '2026-11-23');
    expect(times?.replaceAll(/\s/g, ' ')).toBe('Nov 17, 1:00 AM – Nov 24, 1:00 AM (Europe/Berlin)');
    expect(createFormats('en-US', 'UTC').dayTimes('2026-11-17', '2026-11-23')).toBeUndefined();
  });

  test('dates of UTC days are formatted in UTC', () => {
    expect(english.day('2026-11-14')).toBe('Nov 14');
    expect(german.day('2026-11-14')).toBe('14. Nov.');
    expect(english.days('2026-11-14', '2026-11-20', now)).toMatch(/^Nov 14\s–\s20$/);
  });

  test('a date includes the year if it is not the current year', () => {
    expect(english.days('2025-11-14', '2025-11-20', now)).toMatch(/^Nov 14\s–\s20, 2025$/);
    expect(english.days('2025-12-31', '2026-01-02', now)).toMatch(/^Dec 31, 2025\s–\sJan 2, 2026$/);
    const from = '2025-11-14T09:00:00Z';
    const to = '2025-11-15T10:00:00Z';
    expect(english.span(from, to, now)).toContain('2025');
    expect(english.span(from, to, from)).not.toContain('2025');
  });

  test.each([
    [-2 * second, 'now'],
    [-40 * second, '40 seconds ago'],
    [-3 * minute, '3 minutes ago'],
    [-26 * hour, 'yesterday'],
    [-12 * day, '12 days ago'],
    [-14 * day, '14 days ago'],
    [-15 * day, 'Nov 5, 2026'],
    [-400 * day, 'Oct 16, 2025'],
    [2 * hour, 'in 2 hours'],
    [30 * day, 'Dec 20, 2026'],
  ])('a time %d ms from now is formatted as "%s"', (distance, text) => {
    expect(english.relative(now + distance, now)).toBe(text);
  });

  test.each([
    [0, '0 sec'],
    [42 * second, '42 sec'],
    [2 * hour + 5 * minute + 3 * second, '2 hr 5 min'],
    [day + 4 * second, '1 day'],
    [3 * day + 2 * hour, '3 days 2 hr'],
  ])('a duration of %d ms is formatted as "%s"', (length, text) => {
    expect(english.duration(length)).toBe(text);
  });
});

test.each([
  ['at the start of the period', 0, /^in the last 10 minutes$/],
  ['at the end of the period', periodMs - 1, /^in the last 10 minutes$/],
  ['after the period', 2 * periodMs, /^10 minutes ago$/],
  ['after two more weeks', 16 * day, /2026/],
])('the text for the period in which a sender was last seen is correct %s', (_, age, text) => {
  expect(seenText(now - age, now)).toMatch(text);
});
