import { expect, test } from 'vitest';
import { adviceOn } from '../../src/console/pages/ingest/reasons.ts';
import { ledgerRefusals } from '../../src/contract/ledger-refusals.ts';
import { ledgerNotes } from '../../src/contract/notes.ts';

test.each(Object.keys({ ...ledgerRefusals, ...ledgerNotes }))(
  'the advice on the code %s consists of complete sentences',
  (code) => {
    const { meaning, remedy } = adviceOn(code);
    for (const text of [meaning, remedy]) expect(text).toMatch(/^[A-Z][^`]{8,}[^.]\.$/);
  },
);

test('the advice on a refusal explains its meaning, or repeats its title if no meaning is declared', () => {
  expect(adviceOn('invalid_encoding').meaning).toBe(`${ledgerRefusals.invalid_encoding.title}.`);
  expect(adviceOn('rate_limited').meaning).toBe(`${ledgerRefusals.rate_limited.meaning}.`);
});

test('the advice on an unknown code of a newer server names the code', () => {
  expect(adviceOn('moon_phase').meaning).toContain('moon_phase');
  expect(adviceOn('constructor').meaning).toContain('constructor');
});
