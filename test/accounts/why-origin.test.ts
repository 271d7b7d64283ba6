import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeOrigin, originMatcher } from '../../src/accounts/origins.ts';

const shop = ['https://shop.example', 'https://*.shop.example', 'http://localhost:*'];

describe('the explanation of an allowed origin', () => {
  test.each([
    [shop, 'https://shop.example', 'https://shop.example', 'https://shop.example allows it.'],
    [shop, 'https://www.shop.example', 'https://*.shop.example', 'https://*.shop.example allows it.'],
    [shop, 'http://localhost:5173', 'http://localhost:*', 'http://localhost:* allows it.'],
    [['null'], 'null', 'null', 'null allows it.'],
    [[], 'https://any.example', null, /does not restrict origins/],
  ])('the patterns %j allow the origin %s, which matches %j', (patterns, origin, by, why) => {
    const verdict = judgeOrigin(patterns, origin);
    expect(verdict).toMatchObject({ allowed: true, by });
    expect(verdict.why).toMatch(why);
  });
});

describe('the explanation of a rejected origin', () => {
  test.each([
    [shop, 'https://other.example', /https:\/\/other\.example is not among the 3 allowed origins/],
    [shop, 'http://shop.example', /only with https:\/\/, not with http:\/\//],
    [shop, 'https://shop.example:8443', /the port differs/],
    [shop, 'https://shop.example/basket', /another form: https:\/\/shop\.example\./],
    [shop, 'shop.example', /not an origin/],
    [shop, 'https://shop.example, https://other.example', /several origins/],
    [shop, 'null', /send null/],
    [[], 'https://a.example, https://b.example', /several origins/],
    [['https://*.shop.example'], 'https://shop.example', /not shop\.example itself: add https:\/\/shop\.example/],
    [['https://shop.example'], 'https://www.shop.example', /https:\/\/\*\.shop\.example allows them/],
    [['https://bad pattern'], 'https://shop.example', /is not among the 1/],
    [['capacitor://localhost'], 'ionic://localhost', /with capacitor:\/\//],
  ])('the patterns %j reject the origin %s with the explanation: %s', (patterns, origin, why) => {
    const verdict = judgeOrigin(patterns, origin);
    expect(verdict).toMatchObject({ allowed: false, by: null });
    expect(verdict.why).toMatch(why);
  });
});

test('judgeOrigin agrees with originMatcher, and the pattern that it reports is enough to allow the origin', () => {
  const part = fc.constantFrom(
    'https',
    'http',
    '://',
    '*.',
    'shop',
    '.example',
    ':8443',
    ':*',
    'null',
    'localhost',
    '/',
    ',',
  );
  const text = fc.oneof(
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
    fc.webUrl(),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), text, (patterns, origin) => {
      const { allowed, by, why } = judgeOrigin(patterns, origin);
      expect(allowed).toBe(originMatcher(patterns)(origin));
      expect(by !== null).toBe(allowed && patterns.length > 0);
      if (by !== null) expect(originMatcher([by])(origin)).toBe(true);
      expect(why).toMatch(/\.$/);
    }),
  );
});
