import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byRank, rankName, searchWords } from '../../src/contract/search-rank.ts';

test.each([
  ['checkout', 'checkout', 0],
  ['Checkout', 'checkout', 0],
  ['checkout-v2', 'check', 1],
  ['new-checkout', 'check', 2],
  ['newCheckout', 'check', 2],
  ['precheck', 'check', 3],
  ['precheck-check', 'check', 2],
  ['checkout-new', 'new check', 2],
  ['search', 'check', undefined],
  ['checkout', 'check new', undefined],
])('the name %s and the search text %s have the rank %s', (name, text, rank) => {
  expect(rankName(name, searchWords(text))).toBe(rank);
});

test('a repeated word of a search text is searched for only once', () => {
  expect(searchWords(' new Check NEW check')).toEqual(['new', 'check']);
});

const texts = fc.stringMatching(/^[a-cA-C-]{1,8}$/);

test('rankName ranks only names that contain all searched words, and ranks an exact match best', () => {
  fc.assert(
    fc.property(texts, fc.array(texts, { minLength: 1, maxLength: 3 }), (name, parts) => {
      const words = searchWords(parts.join(' '));
      const contains = words.every((word) => name.toLowerCase().includes(word));
      expect(rankName(name, words) !== undefined).toBe(contains);
      expect(rankName(name, searchWords(name))).toBe(0);
    }),
  );
});

test('byRank is a total order of ranked names', () => {
  const ranked = fc.record({ name: texts, rank: fc.nat(3) });
  fc.assert(
    fc.property(ranked, ranked, (a, b) => {
      expect(Math.sign(byRank(a, b)) + Math.sign(byRank(b, a))).toBe(0);
      expect(byRank(a, b) === 0).toBe(a.name === b.name && a.rank === b.rank);
    }),
  );
});
