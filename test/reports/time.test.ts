import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countedAt, parseTime, unixMs } from '../../src/reports/time.ts';
import { bucketOf, bucketWidth } from '../../src/store/blocks.ts';

const noon = Date.UTC(2026, 0, 31, 12);

describe('an RFC 3339 time', () => {
  test.each([
    ['2026-01-31T12:00:00Z', noon],
    ['2026-01-31T12:00:00+00:00', noon],
    ['2026-01-31T12:00:00-00:00', noon],
    ['2026-01-31t12:00:00z', noon],
    ['2026-01-31T13:30:00+01:30', noon],
    ['2026-01-31T00:00:00-12:00', noon],
    ['2026-01-31T12:00:00+0000', noon],
    ['2026-01-31T10:30:00.0-0130', noon],
    ['2026-02-01T11:59:00+23:59', noon],
    ['2026-01-31T12:00:00.5Z', noon + 500],
    ['2026-01-31T12:00:00.123Z', noon + 123],
    ['2026-01-31T12:00:00.1234567Z', noon + 123.456],
    ['2026-01-31T12:00:00.123456789012345678901234567890+00:00', noon + 123.456],
    ['2026-01-31T12:00:59.99999999999999999Z', noon + 59_999.999],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
    ['1970-01-01T00:00:00Z', 0],
    ['1969-12-31T23:59:59Z', -1000],
    ['0001-01-01T00:00:00Z', Date.parse('0001-01-01T00:00:00Z')],
    ['9999-12-31T23:59:59Z', Date.parse('9999-12-31T23:59:59Z')],
  ])('%s is read', (text, expected) => {
    expect(parseTime(text)).toBe(expected);
  });

  test.each([
    ...[
      '',
      'now',
      '1769860800',
      '2026-01-31',
      '2026-01-31T12:00:00',
      '2026-01-31 12:00:00Z',
      '2026-01-31T12:00Z',
    ],
    ...['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-01-32T00:00:00Z', '2026-01-00T00:00:00Z'],
    ...['2026-02-29T00:00:00Z', '2100-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-1-31T12:00:00Z'],
    ...['2026-01-31T24:00:00Z', '2026-01-31T12:60:00Z', '2026-01-31T12:00:61Z', '2026-01-31T12:00:00.Z'],
    ...[
      '2026-01-31T12:00:00+24:00',
      '2026-01-31T12:00:00+00:60',
      '2026-01-31T12:00:00+2400',
      '2026-01-31T12:00:00+00',
    ],
    ...[' 2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z\n', '-2026-01-31T12:00:00Z', '２026-01-31T12:00:00Z'],
  ])('%j is none', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  test('is read as Date reads it, and as seconds and nanoseconds', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          expect(parseTime(date.toISOString())).toBe(date.getTime());
          const seconds = Math.floor(date.getTime() / 1000);
          expect(unixMs(seconds, (date.getTime() - seconds * 1000) * 1e6)).toBe(date.getTime());
        },
      ),
    );
  });
});

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
