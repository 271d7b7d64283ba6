import { expect, test } from 'vitest';
import { queryReader } from '../../src/http/query-reader.ts';
import { readReportRange, reportRange } from '../../src/reports/usage/report-range.ts';

const day = 86_400_000;
const now = Date.UTC(2026, 0, 31, 12);
const retention = { minutesMs: 2 * day, hoursMs: 90 * day, daysMs: 1825 * day };

const readQuery = queryReader(reportRange);
const read = (query: Record<string, string>) =>
  readReportRange(readQuery(String(new URLSearchParams(query))), now, retention);

test('the default range of a report is the last 24 hours, by hour', () => {
  const to = now / 60_000 + 1;
  expect(read({})).toEqual({ from: to - 1440, to, step: 'hour', today: Math.floor(now / 86_400_000) });
});

test.each<[string, Record<string, string>, string]>([
  ['a text that is not a time', { from: 'yesterday' }, 'from must be an RFC 3339 time, such as 2026-01-31T12:00:00Z'],
  ['an invalid date', { to: '2026-13-01T00:00:00Z' }, 'to must be an RFC 3339 time, such as 2026-01-31T12:00:00Z'],
  ['a time in the year 0', { from: '0000-01-01T00:00:00Z' }, 'from must not be before 1970-01-01T00:00:00Z'],
  ['a time just before 1970', { from: '1970-01-01T00:59:59+01:00' }, 'from must not be before 1970-01-01T00:00:00Z'],
  ['an end equal to its start', { from: '2026-01-31T12:00:00Z', to: '2026-01-31T12:00:00Z' }, 'from must be before to'],
  ['a start in the future', { from: '2026-02-01T12:00:00Z' }, 'from must be in the past, unless a later to is given'],
  ['too many steps', { from: '1970-01-01T00:00:00Z', step: 'day' }, 'more than 10000 steps apart'],
  ['an unknown step', { step: 'week' }, 'step must be minute, hour or day'],
])('a report is refused if its range has %s: %j', (_what, query, detail) => {
  expect(() => read(query)).toThrow(expect.objectContaining({ code: 'invalid_query' }));
  expect(() => read(query)).toThrow(detail);
});
