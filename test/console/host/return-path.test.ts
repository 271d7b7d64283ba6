import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readReturnPath } from '../../../src/console/host/sign-in.ts';

const baseUrl = 'https://console.example/flags';
const { origin } = new URL(baseUrl);

/** Texts with parts that browsers interpret in surprising ways. */
const tricky = fc
  .array(
    fc.constantFrom(
      '/',
      '\\',
      '//',
      '.',
      '..',
      ':',
      '@',
      '?',
      '#',
      '%2f',
      '%5c',
      '%2e',
      'evil.example',
      '\t',
      '\n',
      ' ',
      'a',
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

test('readReturnPath accepts only paths that every browser interprets as the same origin', () => {
  fc.assert(
    fc.property(fc.oneof(tricky, fc.string(), fc.webUrl(), fc.webPath()), (text) => {
      const path = readReturnPath(baseUrl, text);
      if (path === undefined) return;
      expect(new URL(origin + path).origin).toBe(origin);
      expect(new URL(path, origin).origin).toBe(origin);
      expect(path).toMatch(/^\/(?![/\\])[!-~]*$/);
    }),
    { numRuns: 2000 },
  );
});

test('readReturnPath returns the path that the browser shows', () => {
  fc.assert(
    fc.property(fc.webPath(), fc.webQueryParameters(), (path, query) => {
      const { pathname, search } = new URL(`/apps${path}?${query}`, origin);
      const shown = pathname + search;
      if (shown.length <= 1000) expect(readReturnPath(baseUrl, shown)).toBe(shown);
    }),
  );
});
