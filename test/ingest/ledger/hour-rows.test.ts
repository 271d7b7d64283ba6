import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HourRows, ledgerText, type SentDimensions } from '../../../src/ingest/ledger/hour-rows.ts';
import { sendersPerHour } from '../../../src/storage/aggregate/hot-ledger.ts';
import type { LedgerDimensions } from '../../../src/storage/lmdb/ledger.ts';

const dimensions: SentDimensions = {
  environment: null,
  transport: 'http',
  route: 'telemetry',
  outcome: 'refused',
  status: 404,
  code: 'unknown_environment',
  userAgent: undefined,
};

function readUserAgent({ subject: text }: { subject: string }): unknown {
  return JSON.parse(text)[6];
}

test('all senders over the limit of an hour are counted as the sender __other__', () => {
  const rows = new HourRows(1, 2, []);
  const agents = Array.from({ length: 1000 }, (_, index) => rows.row({ ...dimensions, userAgent: `a${index}` }));
  expect(new Set(agents.map(readUserAgent)).size).toBe(sendersPerHour + 1);
  expect(readUserAgent(agents.at(-1)!)).toBe('__other__');
  expect(readUserAgent(rows.row({ ...dimensions, userAgent: 'a0', status: 403 }))).toBe('a0');
  expect(rows.size).toBe(sendersPerHour + 2);
});

test('stored senders keep their rows after a restart, and count towards the limit', () => {
  const stored = Array.from({ length: sendersPerHour }, (_, index): LedgerDimensions => {
    return { ...dimensions, userAgent: `a${index}`, instance: null };
  });
  const rows = new HourRows(1, 2, stored);
  expect(readUserAgent(rows.row({ ...dimensions, userAgent: 'new' }))).toBe('__other__');
  expect(readUserAgent(rows.row({ ...dimensions, userAgent: 'a7' }))).toBe('a7');
});

test('an hour has a limited number of ledger rows for any number of refusal codes', () => {
  const rows = new HourRows(1, 2, []);
  for (let at = 0; at < 20_000; at++) {
    rows.row({ ...dimensions, userAgent: `a${at % 50}`, code: `code_${at % 100}` });
  }
  expect(rows.size).toBeLessThanOrEqual(1100);
});

test('acceptedRow and row return the same row for an accepted message', () => {
  const rows = new HourRows(1, 2, []);
  const maybe = (texts: fc.Arbitrary<string>) => fc.option(texts, { nil: undefined });
  const sender = fc.record({
    environment: fc.option(fc.nat(3)),
    route: fc.constantFrom('telemetry', 'usage', 'metrics'),
    transport: fc.constantFrom('http', 'grpc'),
    userAgent: maybe(fc.oneof(fc.string({ maxLength: 600 }), fc.constantFrom('', 'undefined', 'a', '1 a'))),
    instance: maybe(fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('', 'undefined', 'a', '1 a'))),
  } as const);
  fc.assert(
    fc.property(sender, (from) => {
      const status = from.route === 'telemetry' ? 202 : 200;
      const row = rows.row({ ...from, outcome: 'accepted', status, code: null });
      expect(rows.acceptedRow(from)).toBe(row);
      expect(rows.acceptedRow(from)).toBe(row);
    }),
  );
});

test('ledgerText returns a short, well-formed text without control characters', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 1000 });
  fc.assert(
    fc.property(texts, (text) => {
      const kept = ledgerText(text);
      expect(kept.length).toBeLessThanOrEqual(200);
      expect(kept).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    }),
  );
});

test.each([
  ['a harmless text', 'my-sdk/1.2 (linux; fm)', 'my-sdk/1.2 (linux; fm)'],
  ['a key', 'x fm_be_0123456789abcdef0123 y', 'x fm_be_012345… y'],
  ['a client secret', `fm_secret_${'ab'.repeat(32)}`, 'fm_secret_ababab…'],
  ['a token', 'Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d', 'Bearer eyJ…'],
  ['line breaks', 'a\r\nb\u2028c', 'abc'],
])('ledgerText stores %s without secrets', (_what, text, kept) => {
  expect(ledgerText(text)).toBe(kept);
});
