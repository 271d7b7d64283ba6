import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOriginPattern, originMatcher } from '../../src/accounts/origins.ts';

describe('an origin pattern', () => {
  test.each([
    'https://example.com',
    'HTTP://Example.COM:8080',
    'http://localhost:3000',
    'http://127.0.0.1',
    'http://[::1]:8080',
    'https://*.example.com',
    'https://*.example.com:8443',
    'capacitor://localhost',
    'chrome-extension://abcdef',
    'https://bücher.example',
    'null',
    'http://localhost:*',
    'https://LOCALHOST:*',
    'http://127.0.0.1:*',
    'http://[::1]:*',
  ])('%s is a valid origin pattern', (pattern) => {
    expect(isOriginPattern(pattern)).toBe(true);
  });

  test.each([
    '',
    '*',
    'NULL',
    'https://example.com:*',
    'http://localhost:*:*',
    'http://localhost.example.com:*',
    'ws://localhost:*',
    'example.com',
    'https://',
    'https://example.com/',
    'https://example.com/path',
    'https://example.com?q',
    'https://user@example.com',
    'https://example.com:',
    'https://example.com:65536',
    'https://example.com:0',
    'https://*.example.com:00',
    'com.example.app://host:0',
    'https://*',
    'https://*.',
    'https://*.*.example.com',
    'https://a.*.example.com',
    'https://*example.com',
    'https://*.1.2.3.4',
    'https://*.[::1]',
    'https://*.user@example.com',
    'https://exa mple.com',
    'https://example.com\n',
    `https://${'a'.repeat(300)}`,
  ])('%j is not a valid origin pattern', (pattern) => {
    expect(isOriginPattern(pattern)).toBe(false);
  });
});

describe('originMatcher', () => {
  test.each([
    ['https://example.com', 'https://example.com', true],
    ['https://example.com', 'https://example.com:443', true],
    ['https://example.com:443', 'https://example.com', true],
    ['http://example.com:80', 'http://example.com', true],
    ['https://Example.com', 'HTTPS://eXample.com', true],
    ['https://bücher.example', 'https://xn--bcher-kva.example', true],
    ['capacitor://localhost', 'capacitor://localhost', true],
    ['https://example.com', 'http://example.com', false],
    ['https://example.com', 'https://example.com:8443', false],
    ['https://example.com', 'https://example.com.', false],
    ['https://example.com', 'https://www.example.com', false],
    ['https://example.com', 'https://example.com.evil.net', false],
    ['https://example.com', 'https://example.com/', false],
    ['https://example.com', 'null', false],
    ['https://example.com', '', false],
    ['null', 'null', true],
    ['null', 'https://example.com', false],
    ['http://localhost:*', 'http://localhost:5173', true],
    ['http://localhost:*', 'http://localhost', true],
    ['http://localhost:*', 'http://LocalHost:80', true],
    ['http://localhost:*', 'https://localhost:5173', false],
    ['http://localhost:*', 'http://localhost.example.com:5173', false],
    ['http://localhost:*', 'http://localhost:5173.example.com', false],
    ['http://localhost:*', 'http://127.0.0.1:5173', false],
    ['http://[::1]:*', 'http://[::1]:5173', true],
    ['https://*.example.com', 'https://a.example.com', true],
    ['https://*.example.com', 'https://a.b.example.com:443', true],
    ['https://*.example.com', 'https://A.Example.com', true],
    ['https://*.example.com', 'https://example.com', false],
    ['https://*.example.com', 'https://.example.com', false],
    ['https://*.example.com', 'https://evilexample.com', false],
    ['https://*.example.com', 'http://a.example.com', false],
    ['https://*.example.com', 'https://a.example.com:8443', false],
    ['https://*.example.com', 'https://evil.net/.example.com', false],
    ['https://*.example.com', 'https://evil.net#.example.com', false],
    ['https://*.example.com', 'https://evil.net\\.example.com', false],
    ['https://*.example.com', 'https://evil@a.example.com', false],
    ['https://*.example.com:8443', 'https://a.example.com:8443', true],
  ])('the origin pattern %s allows the origin %j: %s', (pattern, origin, expected) => {
    expect(originMatcher([pattern])(origin)).toBe(expected);
  });

  test('originMatcher rejects a header with several origins', () => {
    for (const patterns of [[], ['https://a.example'], ['https://*.example']]) {
      expect(originMatcher(patterns)('https://a.example, https://a.example')).toBe(false);
      expect(originMatcher(patterns)('https://b.example,https://a.example')).toBe(false);
    }
  });

  test('an empty list of patterns allows any origin, and another list allows only origins that match a pattern', () => {
    expect(originMatcher([])('https://anything.example')).toBe(true);
    expect(originMatcher(['https://a.example', 'https://*.b.example'])('https://x.b.example')).toBe(true);
  });

  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
  const host = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => `${labels.join('.')}.example`);
  const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
  const origin = fc
    .tuple(fc.constantFrom('http', 'https'), host, port)
    .map(([scheme, name, number]) => ({ scheme, name, at: number === undefined ? '' : `:${number}` }));

  test('originMatcher ignores case, and a wildcard matches subdomains but not the parent domain', () => {
    fc.assert(
      fc.property(origin, label, ({ scheme, name, at }, sub) => {
        const apex = `${scheme}://${name}${at}`;
        const wildcard = originMatcher([`${scheme}://*.${name}${at}`]);
        expect(originMatcher([apex])(apex.toUpperCase())).toBe(true);
        expect(wildcard(`${scheme}://${sub}.${name}${at}`)).toBe(true);
        expect(wildcard(`${scheme}://${sub}${name}${at}`)).toBe(false);
        expect(wildcard(apex)).toBe(false);
      }),
    );
  });

  test('originMatcher compares scheme, host and port as the URL standard does', () => {
    fc.assert(
      fc.property(origin, origin, (a, b) => {
        const [one, other] = [a, b].map(({ scheme, name, at }) => `${scheme}://${name}${at}`) as [string, string];
        expect(originMatcher([one])(other)).toBe(new URL(one).origin === new URL(other).origin);
      }),
    );
  });

  test('originMatcher does not throw for any text', () => {
    const matches = originMatcher(['https://*.example.com', 'https://example.com']);
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => typeof matches(text) === 'boolean'));
  });
});
