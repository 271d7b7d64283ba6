import fc from 'fast-check';
import { expect, test } from 'vitest';
import { programText } from '../../src/contract/programs.ts';

test.each([
  ['unleash-client-node/6.4.1', 'unleash-client-node 6.4.1'],
  ['unleash-client-node 6.4.1', 'unleash-client-node 6.4.1'],
  ['unleash-client-java:9.2.0', 'unleash-client-java 9.2.0'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0', 'Firefox 132'],
  ['Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36', 'Chrome 131'],
  ['Mozilla/5.0 (compatible; SomeBot/2.1)', 'Mozilla 5.0'],
  ['okhttp/4.12.0', 'okhttp 4.12.0'],
  ['billing service', 'billing service'],
  ['old-php-shop/v0.4-rc.1', 'old-php-shop v0.4-rc.1'],
  ['curl', 'curl'],
  ['/1', '/1'],
])('the User-Agent %s is shown as the program %s', (userAgent, text) => {
  expect(programText(userAgent)).toBe(text);
});

test('every User-Agent that is not empty is shown as a program', () => {
  fc.assert(fc.property(fc.string({ minLength: 1, unit: 'binary' }), (text) => programText(text) !== ''));
});
