import { expect, test } from 'vitest';
import { formatListing, listing } from '../../src/commands/server/postgres-adopt.ts';

const place = { version: 4, id: 'change' };
const applied = { position: 7, id: 'entry' };

test.each([
  [Date.UTC(2026, 0, 2), '2026-01-02T00:00:00.000Z', 'complete through 2026-01-02T00:00:00.000Z'],
  [0, null, 'complete through an unknown time'],
])('formatListing formats a source whose data is complete through %d ms as %s', (completeThrough, shown, text) => {
  const listed = listing({ name: 'replica', holding: { applied, place, completeThrough } });
  expect(listed).toEqual({ name: 'replica', position: 7, completeThrough: shown, accounts: 4 });
  expect(formatListing(listed)).toBe(`replica: usage at position 7, ${text}; accounts at version 4\n`);
});
