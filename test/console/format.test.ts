import { describe, expect, test } from 'vitest';
import { formatsOf } from '../../src/console/format.ts';

const english = formatsOf('en-US', 'Europe/Berlin');
const german = formatsOf('de-DE', 'America/New_York');
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.parse('2026-11-20T12:00:00Z');

describe('numbers', () => {
  test.each([
    [0, '0', '0'],
    [312, '312', '312'],
    [48_123, '48,123', '48K'],
    [4_123_456, '4,123,456', '4.1M'],
  ])('%d', (value, full, compact) => {
    expect(english.full(value)).toBe(full);
    expect(english.compact(value)).toBe(compact);
  });

  test('follow the locale', () => {
    expect(german.full(4_123_456.5)).toBe('4.123.456,5');
  });

  test.each([
    [2, 5, '40%'],
    [1, 3, '33%'],
    [1, 24, '4.2%'],
    [0, 7, '0%'],
    [7, 7, '100%'],
    [0, 0, '–'],
  ])('%d of %d', (part, whole, text) => {
    expect(english.rate(part, whole)).toBe(text);
  });
});

describe('times', () => {
  test('are in the reader’s time zone', () => {
    expect(english.clock('2026-11-20T12:00:00Z')).toMatch(/^1:00\sPM$/);
    expect(german.clock('2026-11-20T12:00:00Z')).toBe('07:00');
    expect(english.place).toBe('Berlin');
    expect(german.place).toBe('New York');
  });

  test('of days are in UTC', () => {
    expect(english.day('2026-11-14')).toBe('Nov 14');
    expect(german.day('2026-11-14')).toBe('14. Nov.');
    expect(english.days('2026-11-14', '2026-11-20')).toMatch(/^Nov 14\s–\s20$/);
  });

  test.each([
    [-2 * second, 'now'],
    [-40 * second, '40 seconds ago'],
    [-3 * minute, '3 minutes ago'],
    [-26 * hour, 'yesterday'],
    [-12 * day, 'last week'],
    [-70 * day, '2 months ago'],
    [2 * hour, 'in 2 hours'],
  ])('%d ms from now', (distance, text) => {
    expect(english.relative(now + distance, now)).toBe(text);
  });

  test.each([
    [0, '0 sec'],
    [42 * second, '42 sec'],
    [2 * hour + 5 * minute + 3 * second, '2 hr 5 min'],
    [day + 4 * second, '1 day'],
    [3 * day + 2 * hour, '3 days 2 hr'],
  ])('of a duration of %d ms', (length, text) => {
    expect(english.duration(length)).toBe(text);
  });
});
