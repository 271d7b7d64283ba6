import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ledgerText } from '../../../src/ingest/ledger/hour-rows.ts';

test('a text is short, well-formed and has no control characters', () => {
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
  ['an honest text', 'my-sdk/1.2 (linux; fm)', 'my-sdk/1.2 (linux; fm)'],
  ['a key', 'x fm_be_0123456789abcdef0123 y', 'x fm_be_012345… y'],
  ['a client secret', `fm_secret_${'ab'.repeat(32)}`, 'fm_secret_ababab…'],
  ['a token', 'Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d', 'Bearer eyJ…'],
  ['line breaks', 'a\r\nb\u2028c', 'abc'],
])('%s is stored without secrets', (_what, text, kept) => {
  expect(ledgerText(text)).toBe(kept);
});
