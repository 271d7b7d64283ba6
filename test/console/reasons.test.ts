import fc from 'fast-check';
import { expect, test } from 'vitest';
import { programsIn } from '../../src/console/pages/ingest/programs.ts';
import { filtered, listReasons, senderName } from '../../src/console/pages/ingest/reasons.ts';
import type { LedgerEntry } from '../../src/contract/shapes/ledger.ts';

function entry(more: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    environment: 'Production',
    transport: 'http',
    route: 'telemetry',
    sender: { userAgent: 'shop/1', instance: null },
    outcome: 'refused',
    status: 403,
    code: 'origin_not_allowed',
    count: 1,
    lastAt: '2026-01-31T12:00:00.000Z',
    example: null,
    ...more,
  };
}

const accepted = { outcome: 'accepted', status: 202, code: null } as const;
const noted = { outcome: 'noted', status: 202, code: 'repeated' } as const;
const other = { sender: { userAgent: 'shop/2', instance: null } } as const;

test('a reason shows its total count, its senders with the most frequent sender first, and the latest example', () => {
  const example = { origin: 'https://late.example' };
  const reasons = listReasons([
    entry({ count: 2, example: { origin: 'https://early.example' } }),
    entry({ ...other, count: 5, lastAt: '2026-01-31T12:30:00.000Z', example }),
    entry({ count: 4, environment: 'Staging' }),
    entry({ ...accepted, count: 100 }),
  ]);
  expect(reasons).toEqual([
    expect.objectContaining({
      code: 'origin_not_allowed',
      outcome: 'refused',
      count: 11,
      lastAt: '2026-01-31T12:30:00.000Z',
      senders: [
        { name: 'shop 1', count: 6 },
        { name: 'shop 2', count: 5 },
      ],
      example,
    }),
  ]);
});

test('refusals come before notes, and frequent reasons come before rare ones', () => {
  const reasons = listReasons([
    entry({ ...noted, count: 900 }),
    entry({ code: 'invalid_json', status: 400, count: 3 }),
    entry({ count: 30 }),
  ]);
  expect(reasons.map(({ code }) => code)).toEqual(['origin_not_allowed', 'invalid_json', 'repeated']);
});

test.each([
  [{ userAgent: 'shop/1', instance: null }, 'shop 1'],
  [{ userAgent: 'sdk/2', instance: 'web-7' }, 'web-7 (sdk 2)'],
  [{ userAgent: null, instance: 'web-7' }, 'web-7'],
  [{ userAgent: null, instance: null }, 'A sender without a name'],
  [{ userAgent: '__other__', instance: null }, 'Other senders'],
])('the sender %j is shown as "%s"', (sender, name) => {
  expect(senderName({ sender })).toBe(name);
});

test.each([
  [{}, 4],
  [{ outcome: 'refused' }, 2],
  [{ outcome: 'accepted' }, 1],
  [{ reason: 'repeated' }, 1],
  [{ search: 'SHOP/2' }, 1],
  [{ outcome: 'noted', search: 'shop/2' }, 0],
])('the ledger filter %j selects %d entries', (filter, count) => {
  const entries = [entry(), entry(other), entry(accepted), entry(noted)];
  expect(filtered(entries, filter)).toHaveLength(count);
});

test('the senders are grouped by program, with counts by outcome and a list of versions', () => {
  const late = '2026-01-31T12:30:00.000Z';
  const programs = programsIn([
    entry({ count: 3 }),
    entry({ ...accepted, count: 90 }),
    entry({ ...accepted, ...other, count: 7, lastAt: late }),
    entry({ ...accepted, sender: { userAgent: null, instance: 'web-7' }, route: 'usage' }),
  ]);
  expect(programs.map(({ name, types }) => [name, ...types])).toEqual([
    ['shop', 'Packets'],
    ['web-7', 'Usage reports'],
  ]);
  const [{ counts, codes, lastAt, versions }] = programs as [(typeof programs)[0]];
  expect([counts, codes, lastAt]).toEqual([{ accepted: 97, refused: 3, noted: 0 }, ['origin_not_allowed'], late]);
  expect(versions).toEqual([
    { label: '2', userAgents: ['shop/2'] },
    { label: '1', userAgents: ['shop/1'] },
  ]);
});

test('grouping senders by program preserves the total number of messages', () => {
  const outcome = fc.constantFrom(accepted, noted, {});
  const userAgent = fc.constantFrom('shop/1', 'shop/2.3.4', 'api/1', null, '__other__');
  const instance = fc.constantFrom('web-7', null);
  const entries = fc.array(
    fc
      .record({ outcome, count: fc.nat(99), sender: fc.record({ userAgent, instance }) })
      .map(({ outcome, ...more }) => entry({ ...outcome, ...more })),
  );
  const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0);
  fc.assert(
    fc.property(entries, (given) => {
      const programs = programsIn(given);
      const all = sum(given.map(({ count }) => count));
      expect(sum(programs.flatMap(({ counts }) => Object.values(counts)))).toBe(all);
    }),
  );
});
