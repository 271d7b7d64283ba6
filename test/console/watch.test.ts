import { expect, test } from 'vitest';
import { type WatchState, watch } from '../../src/console/pages/first-run/watch.ts';
import type { IngestReport, LedgerEntry, UnattributedRefusal } from '../../src/contract/shapes/ledger.ts';

const since = Date.UTC(2026, 0, 31, 12);
const patienceMs = 30_000;
const source: WatchState['source'] = {
  patienceMs,
  sent: (route, userAgent) => route !== 'unleash' && userAgent !== 'another/1',
};
const at = (seconds: number) => new Date(since + seconds * 1000).toISOString();

function entry(more: Partial<LedgerEntry>): LedgerEntry {
  return {
    environment: 'Production',
    transport: 'http',
    route: 'telemetry',
    sender: { userAgent: 'shop/1', instance: null },
    outcome: 'accepted',
    status: 202,
    code: null,
    count: 1,
    lastAt: at(1),
    example: null,
    ...more,
  };
}

function ledger(...entries: LedgerEntry[]): IngestReport {
  const counts = {
    accepted: 0,
    refused: 0,
    noted: 0,
    unnamed: { accepted: 0, refused: 0, noted: 0 },
    entriesLeftOut: 0,
  };
  return { environment: 'Production', from: at(-3600), to: at(3600), ...counts, entries };
}

const refusal = { outcome: 'refused', status: 403, code: 'origin_not_allowed' } as const;

function unattributed(seconds: number): UnattributedRefusal {
  const unknown = { keyPrefix: 'fm_fe_c0ffee', origin: null, userAgent: null, environment: null };
  return { at: at(seconds), route: 'telemetry', transport: 'http', code: 'unknown_key', ...unknown, count: 1 };
}

function seen(seconds: number, sight: Partial<WatchState> = {}) {
  return watch({ source, since, now: since + seconds * 1000, ledger: ledger(), unattributed: [], ...sight });
}

test('the Connect page waits until a packet arrives', () => {
  expect(seen(0, { ledger: undefined })).toEqual({ kind: 'waiting', leftMs: patienceMs });
  expect(seen(10)).toEqual({ kind: 'waiting', leftMs: patienceMs - 10_000 });
});

test.each([
  ['an accepted packet', entry({}), 'arrived'],
  ['an accepted report', entry({ route: 'usage', transport: 'grpc' }), 'arrived'],
  ['a minted id', entry({ route: 'identities', environment: null }), 'waiting'],
  ['a packet of a deleted environment', entry({ environment: null }), 'waiting'],
  ['a note', entry({ outcome: 'noted', code: 'repeated' }), 'waiting'],
  ['a refused packet', entry(refusal), 'trouble'],
  ['a message of another kind of sender', entry({ route: 'unleash' }), 'waiting'],
  ['a refusal of another kind of sender', entry({ ...refusal, route: 'unleash' }), 'waiting'],
  ['a packet of another program', entry({ sender: { userAgent: 'another/1', instance: null } }), 'waiting'],
])('%s puts the Connect page into the state %s', (_, only, kind) => {
  expect(seen(5, { ledger: ledger(only) }).kind).toBe(kind);
});

test('the Connect page shows the last accepted packet, even if there are refusals too', () => {
  const last = entry({ lastAt: at(9), count: 3 });
  const sight = { ledger: ledger(entry(refusal), entry({}), last), unattributed: [unattributed(5)] };
  expect(seen(40, sight)).toEqual({ kind: 'arrived', count: 4, last, isAlone: true });
});

test('the Connect page reports that other senders also use the environment', () => {
  const own = entry({ count: 2 });
  const sight = { ledger: ledger(own, entry({ route: 'unleash', count: 7 })) };
  expect(seen(1, sight)).toEqual({ kind: 'arrived', count: 2, last: own, isAlone: false });
});

test('the Connect page shows a new refusal immediately, and an earlier refusal after 30 seconds', () => {
  const earlier = entry({ ...refusal, lastAt: at(-60) });
  expect(seen(5, { ledger: ledger(earlier) }).kind).toBe('waiting');
  expect(seen(30, { ledger: ledger(earlier) })).toEqual({
    kind: 'trouble',
    refused: [earlier],
    unattributed: [],
    late: true,
  });
  const fresh = entry({ ...refusal, lastAt: at(4) });
  expect(seen(5, { ledger: ledger(fresh, earlier) })).toMatchObject({ refused: [fresh], late: false });
});

test('the Connect page also shows refusals of unknown keys', () => {
  expect(seen(5, { unattributed: [unattributed(-5)] }).kind).toBe('waiting');
  expect(seen(5, { unattributed: [unattributed(4), unattributed(-5)] })).toMatchObject({
    unattributed: [unattributed(4)],
  });
  expect(seen(31, { unattributed: [unattributed(4), unattributed(-5)] })).toMatchObject({
    unattributed: [unattributed(4), unattributed(-5)],
  });
});

test('the Connect page reports after 30 seconds that no packet has arrived', () => {
  expect(seen(29.9).kind).toBe('waiting');
  expect(seen(30)).toEqual({ kind: 'trouble', refused: [], unattributed: [], late: true });
});

test('the Connect page ignores unknown keys in requests from another kind of sender', () => {
  const other = { ...unattributed(4), route: 'unleash' } as const;
  expect(seen(5, { unattributed: [other] }).kind).toBe('waiting');
});

test('the Connect page shows a limited number of refusals', () => {
  const many = Array.from({ length: 40 }, () => entry(refusal));
  expect(seen(5, { ledger: ledger(...many) })).toMatchObject({ refused: many.slice(0, 5) });
});
