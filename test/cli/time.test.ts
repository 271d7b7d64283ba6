import { expect, it } from 'vitest';
import { readTime } from '../../src/cli/fields.ts';
import { UsageError } from '../../src/cli/options.ts';

const now = Date.parse('2026-03-10T12:34:56.789Z');

it.each([
  ['now', '2026-03-10T12:34:56.789Z'],
  ['30m', '2026-03-10T12:04:56.789Z'],
  ['24h', '2026-03-09T12:34:56.789Z'],
  ['7d', '2026-03-03T12:34:56.789Z'],
  ['2w', '2026-02-24T12:34:56.789Z'],
  ['0d', '2026-03-10T12:34:56.789Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31t12:00:00.5z', '2026-01-31T12:00:00.500Z'],
  ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
  ['2026-01-31 12:00:00 UTC', '2026-01-31T12:00:00.000Z'],
])('readTime reads %s as %s', (text, time) => {
  expect(readTime(text, 'from', now)).toBe(time);
});

it.each([
  ...['', 'yesterday', '7', '7y', '-7d', '7.5h', '9999999d', '999999w', '2026-02-30', '2026-13-01'],
  ...['2026-01-31T12:00', '2026-01-31T12:00:00', '1767225600', '31.1.2026'],
])('readTime rejects %j', (text) => {
  expect(() => readTime(text, 'from', now)).toThrow(UsageError);
  expect(() => readTime(text, 'from', now)).toThrow(`Cannot use --from ${text}: must be a time such as 7d, `);
});
