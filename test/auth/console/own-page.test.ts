import { describe, expect, test } from 'vitest';
import { ownPageCheck } from '../../../src/auth/console-session.ts';

const header = { 'flagmeter-console': '1' };
const site = (value: string) => ({ ...header, 'sec-fetch-site': value });

function isOwn(baseUrl: string, headers: Readonly<Record<string, string>>): boolean {
  return ownPageCheck(baseUrl)({ header: (name) => headers[name] });
}

describe.each([
  'https://console.example',
  'https://console.example:8443/flags',
  'http://localhost:8080',
  'http://console.localhost',
  'http://127.0.0.1:8080',
  'http://127.9.9.9',
  'http://[::1]:8080',
])('ownPageCheck for %s, where browsers send Sec-Fetch-Site', (baseUrl) => {
  test.each([
    [site('same-origin'), true],
    [site('same-site'), false],
    [site('cross-site'), false],
    [site('none'), false],
    [header, false],
    [{ ...header, origin: new URL(baseUrl).origin }, false],
    [{ 'sec-fetch-site': 'same-origin' }, false],
    [{ ...site('same-origin'), 'flagmeter-console': '2' }, false],
  ])('ownPageCheck of a request with the headers %j returns %s', (headers, wanted) => {
    expect(isOwn(baseUrl, headers)).toBe(wanted);
  });
});

describe.each(['http://console.example', 'http://192.168.1.5:8080', 'http://localhost.example', 'http://[fe80::1]'])(
  'ownPageCheck for %s, where browsers omit Sec-Fetch-Site',
  (baseUrl) => {
    test.each([
      [header, true],
      [{ ...header, origin: new URL(baseUrl).origin }, true],
      [{ ...header, origin: 'http://evil.example' }, false],
      [{ ...header, origin: 'null' }, false],
      [{ ...header, origin: `${new URL(baseUrl).origin}.evil.example` }, false],
      [site('same-origin'), true],
      [site('cross-site'), false],
      [{}, false],
      [{ origin: new URL(baseUrl).origin }, false],
    ])('ownPageCheck of a request with the headers %j returns %s', (headers, wanted) => {
      expect(isOwn(baseUrl, headers)).toBe(wanted);
    });
  },
);
