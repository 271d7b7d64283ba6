import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Entry, findSimilar, mostShown, ranked, sentText, unique } from '../../src/console/search/entries.ts';

const entry = (title: string, more: Partial<Entry> = {}): Entry => ({ kind: 'page', title, ...more });

describe('the entries of the search', () => {
  test('search entries are sorted by rank and then by kind, and matches in hidden words come last', () => {
    const entries = [
      entry('Team', { kind: 'setting', words: 'webhooks' }),
      entry('Webhooks', { kind: 'docs', href: '/docs/webhooks' }),
      entry('new-webhooks', { kind: 'feature', href: '/flag' }),
      entry('webhooks', { kind: 'feature', href: '/other-flag' }),
      entry('Metrics'),
    ];
    expect(ranked(entries, 'webhooks').map(({ kind, title }) => `${kind} ${title}`)).toEqual([
      'feature webhooks',
      'docs Webhooks',
      'feature new-webhooks',
      'setting Team',
    ]);
  });

  test('the entry with the most similar title is suggested for a misspelt text', () => {
    const entries = [entry('Metrics'), entry('Webhooks', { kind: 'docs' })];
    expect(findSimilar(entries, 'metrcs')).toEqual([entry('Metrics', { kind: 'similar' })]);
    expect(findSimilar(entries, 'quite different')).toEqual([]);
  });

  test('the search lists each address only once, and limits the number of entries', () => {
    const text = fc.constantFrom('a', 'ab', 'b-a', 'c');
    const entries = fc.array(fc.record({ kind: fc.constantFrom('page', 'feature'), title: text, href: text }));
    fc.assert(
      fc.property(entries, text, (some, wanted) => {
        const found = ranked(some as Entry[], wanted);
        expect(found.length).toBeLessThanOrEqual(mostShown);
        expect(unique(found)).toEqual(found);
        for (const { title } of found) expect(title).toContain(wanted);
      }),
    );
  });
});

test('the search does not send the secret part of a key', () => {
  const key = `fm_be_${'aB3'.repeat(14)}`;
  expect(sentText(` ${key} `)).toBe(key.slice(0, 12));
  expect(sentText('fm_be_ab')).toBe('fm_be_ab');
  expect(sentText('checkout')).toBe('checkout');
});
