import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFinerThanMs, parseSentTime, parseTime, unixMs } from '../../src/runtime/rfc3339.ts';

const noon = Date.UTC(2026, 0, 31, 12);

describe('RFC 3339 times', () => {
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
  ])('parseTime reads %s', (text, expected) => {
    expect(parseTime(text)).toBe(expected);
  });

  test.each([
    ...['', 'now', '1769860800', '2026-01-31', '2026-01-31T12:00:00', '2026-01-31 12:00:00Z', '2026-01-31T12:00Z'],
    ...['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-01-32T00:00:00Z', '2026-01-00T00:00:00Z'],
    ...['2026-02-29T00:00:00Z', '2100-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-1-31T12:00:00Z'],
    ...['2026-01-31T24:00:00Z', '2026-01-31T12:60:00Z', '2026-01-31T12:00:61Z', '2026-01-31T12:00:00.Z'],
    ...['2026-01-31T12:00:00+24:00', '2026-01-31T12:00:00+00:60', '2026-01-31T12:00:00+2400', '2026-01-31T12:00:00+00'],
    ...[' 2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z\n', '-2026-01-31T12:00:00Z', '２026-01-31T12:00:00Z'],
  ])('parseTime rejects %j', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  test.each([
    ['2026-01-31T12:00:00', { at: noon, hasZone: false }],
    ['2026-01-31t12:00:00.25', { at: noon + 250, hasZone: false }],
    ['2026-01-31T12:00Z', { at: noon, hasZone: true }],
    ['2026-01-31T13:30+01:30', { at: noon, hasZone: true }],
    ['2026-01-31T13:00+0100', { at: noon, hasZone: true }],
    ['2026-01-31T12:00', { at: noon, hasZone: false }],
    ['2026-01-31T12:00:00Z', { at: noon, hasZone: true }],
  ])('parseSentTime reads %s', (text, expected) => {
    expect(parseSentTime(text)).toEqual(expected);
  });

  test.each([
    '',
    '2026-01-31',
    '2026-01-31T12',
    '2026-01-31T12Z',
    '2026-01-31T12:00.5Z',
    '2026-02-30T12:00',
    '2026-01-31T12:60',
  ])('parseSentTime rejects %j', (text) => {
    expect(parseSentTime(text)).toBeUndefined();
  });

  test.each([
    [0, false],
    [125_000_000, false],
    [125_000_001, true],
    [125_000_100, true],
    [125_001_000, true],
    [999_999_999, true],
  ])('isFinerThanMs of a time with %i nanoseconds is %s', (nanos, isFiner) => {
    expect(isFinerThanMs(unixMs(noon / 1000, nanos))).toBe(isFiner);
  });

  test('parseTime returns the same time as Date and as unixMs', () => {
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
