import { expect, it } from 'vitest';
import { findDifference } from '../../src/bench/workload.ts';

const counts = (checks: number) => new Map([['a/on', [checks, 1, 0]]]);

it('a bench finds no difference in equal counts', () => {
  expect(findDifference(counts(5), counts(5), 0)).toBeUndefined();
});

it.each([
  ['a lost packet', counts(5), counts(4), 0],
  ['a packet that counted twice', counts(5), counts(6), 0],
  ['a series that is missing', counts(5), new Map(), 0],
  ['a series that was not sent', new Map(), counts(5), 0],
  ['a lost packet next to unanswered packets', counts(5), counts(4), 3],
])('a bench reports %s as a difference', (_, expected, counted, uncertain) => {
  expect(findDifference(expected, counted, uncertain)).toMatch(/^a\/on: acknowledged/);
});

it('a bench accepts more packets than were acknowledged if some packets got no response', () => {
  expect(findDifference(counts(5), counts(6), 1)).toBeUndefined();
});
