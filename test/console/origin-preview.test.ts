import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOriginPattern, originMatcher, withoutSlash } from '../../src/accounts/origins.ts';
import { previewOrigin } from '../../src/console/pages/application-settings/origin-preview.ts';

const good = [
  'https://shop.example',
  'https://shop.example/',
  ' https://shop.example ',
  'HTTPS://Shop.Example:8443',
  'https://shop.example:443',
  'http://10.0.0.7:8080',
  'http://[::1]:8080',
  'https://*.shop.example',
  'https://*.shop.example:8443',
  'https://*.bücher.example',
  'http://localhost:*',
  'HTTP://LocalHost:*',
  'https://[::1]:*',
  'http://127.0.0.1:*',
  'null',
  'capacitor://localhost',
];

describe('the preview of an allowed origin', () => {
  test.each(good)(
    'the preview of the allowed origin %s and the server agree on each example of the preview',
    (text) => {
      const preview = previewOrigin(text);
      if (preview.fault !== undefined) throw new Error(preview.fault);
      const isLetThrough = originMatcher([withoutSlash(text.trim())]);
      expect(preview.matches.map((origin) => [origin, isLetThrough(origin)])).toEqual(
        preview.matches.map((origin) => [origin, true]),
      );
      expect(preview.misses.map((origin) => [origin, isLetThrough(origin)])).toEqual(
        preview.misses.map((origin) => [origin, false]),
      );
      expect(preview.matches.length).toBeGreaterThan(0);
    },
  );

  test.each([
    ['', 'https://example.com'],
    ['shop.example', 'https://shop.example'],
    ['*', 'all subdomains'],
    ['https://shop.example/cart', 'https://shop.example'],
    ['https://shop.example?x', 'ends after the host'],
    ['https://ada@shop.example', 'user name'],
    ['https://*.10.0.0.7', 'have subdomains'],
    ['https://shop.*.example', 'all subdomains'],
    ['http://shop.example:*', 'this computer'],
    ['https://shop.example:99999', 'Not the address'],
    ['https://', 'begins with'],
  ])('the preview of the invalid origin "%s" shows a correction', (text, words) => {
    expect(previewOrigin(text).fault).toContain(words);
    expect(isOriginPattern(withoutSlash(text))).toBe(false);
  });

  test('previewOrigin and the server accept the same patterns, and agree on the examples', () => {
    const part = fc.constantFrom(
      'https',
      'http',
      '://',
      '*.',
      'shop',
      '.example',
      ':8080',
      ':*',
      '/',
      '?a',
      'null',
      '@',
      '10.0.0.7',
      '[::1]',
      'localhost',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const text = parts.join('');
        const preview = previewOrigin(text);
        expect(preview.fault === undefined).toBe(isOriginPattern(withoutSlash(text)));
        if (preview.fault !== undefined) return;
        const isLetThrough = originMatcher([withoutSlash(text)]);
        expect(preview.matches.filter((origin) => !isLetThrough(origin))).toEqual([]);
        expect(preview.misses.filter(isLetThrough)).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });
});
