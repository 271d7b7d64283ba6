import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOfKnownReceiver, isRedirectUri, isSameRedirect } from '../../src/accounts/clients.ts';

const good = [
  'https://shop.example.com/callback?to=http://x:0',
  'http://[::1]:10/callback',
  'https://shop.example.com',
  'https://shop.example.com/',
  'https://shop.example.com/callback?from=x&y=%20',
  'https://SHOP.example.com:8443/callback',
  'https://192.0.2.1/callback',
  'https://abcdefghijklmnop.chromiumapp.org/',
  'http://127.0.0.1/callback',
  'http://127.0.0.1:8000/callback?x=1',
  'http://127.0.0.1',
  'http://[::1]/callback',
  'http://[::1]:8000/callback',
  'http://localhost:3000/callback',
  'com.example.app:/callback',
  'com.example.app:/callback?x=1',
  'com.example.app://callback',
  'org.example-2.app+x:callback',
];

const bad = [
  'https://shop.example.com:0/callback',
  'https://shop.example.com:000',
  'http://localhost:0/callback',
  'http://127.0.0.1:0/callback?x=1',
  'http://[::1]:0/callback',
  '',
  'callback',
  '/callback',
  '//shop.example.com/callback',
  'shop.example.com/callback',
  'http://shop.example.com/callback',
  'http://127.0.0.1.example.com/callback',
  'http://127.0.0.1@example.com/callback',
  'http://127.0.0.1:80@example.com/callback',
  'http://127.0.0.1\\@example.com/callback',
  'http://127.1/callback',
  'http://2130706433/callback',
  'http://127.0.0.2/callback',
  'http://[::ffff:127.0.0.1]/callback',
  'http://localhost.example.com/callback',
  'http://localhost@example.com/callback',
  'http://localhost:80@example.com/callback',
  'https://user@shop.example.com/callback',
  'https://user:secret@shop.example.com/callback',
  'https://*.example.com/callback',
  'https://shop.example.com\\callback',
  'https://shop.example.com;script-src/callback',
  'https://shop.example.com,evil.example/callback',
  'https://shop.example.com/callback#',
  'https://shop.example.com/callback#code',
  'https://shop.example.com/call back',
  'https://shop.example.com/callback\n',
  'https://shop.example.com/%',
  'https://shop.example.com/%zz',
  'https://shop.example.com:99999/callback',
  'https://shop.example.com:/callback@evil.example',
  'https:shop.example.com',
  'https:/shop.example.com',
  'https://',
  'https:///callback',
  'https://šhop.example.com/callback',
  'ftp://shop.example.com/callback',
  'javascript:alert(1)',
  'javascript.x:alert("1")',
  'data:text/html,x',
  'data:text/html;base64,eA==',
  'file:///etc/passwd',
  'blob:https://shop.example.com/x',
  'about:blank',
  'myapp:/callback',
  'myapp://callback',
  '.example.app:/callback',
  'com..app:/callback',
  'com.example.app:',
  `https://shop.example.com/${'x'.repeat(1024)}`,
];

describe('a redirect URI', () => {
  test.each(good)('%s is a valid redirect URI', (uri) => {
    expect(isRedirectUri(uri)).toBe(true);
  });

  test.each(bad)('%j is not a valid redirect URI', (uri) => {
    expect(isRedirectUri(uri)).toBe(false);
  });

  test('isOfKnownReceiver is true only for redirect URIs with https', () => {
    expect(good.filter(isOfKnownReceiver)).toEqual(good.filter((uri) => uri.startsWith('https://')));
  });
});

describe('isSameRedirect', () => {
  test.each([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:51234/callback', true],
    ['http://127.0.0.1:8000/callback', 'http://127.0.0.1:51234/callback', true],
    ['http://127.0.0.1:8000/callback', 'http://127.0.0.1/callback', true],
    ['http://[::1]/callback', 'http://[::1]:51234/callback', true],
    ['http://127.0.0.1/callback', 'http://[::1]:51234/callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:0/callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:65536/callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:/callback', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:51234/callback/', false],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:51234/callback?x', false],
    ['http://127.0.0.1', 'http://127.0.0.1:80@example.com', false],
    ['http://127.0.0.1/callback', 'https://127.0.0.1:51234/callback', false],
    ['http://localhost/callback', 'http://localhost:51234/callback', false],
    ['https://shop.example.com/callback', 'https://shop.example.com:443/callback', false],
    ['https://shop.example.com/callback', 'https://SHOP.example.com/callback', false],
    ['https://shop.example.com/callback', 'https://shop.example.com/x/../callback', false],
    ['com.example.app:/callback', 'com.example.app://callback', false],
  ])('the registered redirect URI %s matches the requested URI %s: %j', (registered, uri, same) => {
    expect(isSameRedirect(registered, uri)).toBe(same);
  });

  test('a redirect URI may differ from the registered URI only in the port of a loopback address', () => {
    const change = fc.record({
      at: fc.nat(60),
      removed: fc.nat(8),
      put: fc.oneof(
        fc.constantFrom('', '@', ':', '/', '\\', '#', '?', '.', '%2e', ':1', ':65535', '://', '127.0.0.1', '[::1]'),
        fc.string({ maxLength: 6 }),
        fc.nat(99_999).map((port) => `:${port}`),
      ),
    });
    fc.assert(
      fc.property(fc.constantFrom(...good), fc.array(change, { minLength: 1, maxLength: 3 }), (registered, changes) => {
        const uri = changes.reduce(
          (text, { at, removed, put }) => text.slice(0, at) + put + text.slice(at + removed),
          registered,
        );
        if (!isSameRedirect(registered, uri) || uri === registered) return;
        const own = new URL(registered);
        const sent = new URL(uri);
        expect(['127.0.0.1', '[::1]']).toContain(own.hostname);
        own.port = sent.port;
        expect(sent.href).toBe(own.href);
      }),
      { numRuns: 5000 },
    );
  });

  test('a redirect URI may have any port at a loopback address', () => {
    const uri = (port: number) => `http://127.0.0.1:${port}/callback`;
    const ports = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(ports, ports, (own, sent) => {
        expect(isSameRedirect(uri(own), uri(sent))).toBe(true);
        expect(new URL(uri(sent)).hostname).toBe('127.0.0.1');
      }),
    );
  });
});

test('a registered redirect URI cannot contain characters that end a header or a CSP directive', () => {
  fc.assert(
    fc.property(fc.constantFrom(...good), fc.nat(40), fc.string({ minLength: 1, maxLength: 3 }), (uri, at, put) => {
      const changed = uri.slice(0, at) + put + uri.slice(at);
      if (!isRedirectUri(changed)) return;
      expect(changed).not.toMatch(/[\s\0-\x1f"<>\\#]/);
      const { protocol, host } = new URL(changed);
      expect(protocol.startsWith('http') ? host : protocol).not.toMatch(/[;,'* ]/);
    }),
    { numRuns: 5000 },
  );
});
