import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packetSender, reportSender } from '../../src/ingest/senders.ts';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

describe('packetSender', () => {
  test.each<[string | undefined, string, string | null]>([
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/131.0.0.0 Safari/537.36`, 'Chrome', '131'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/131.0.0.0 Safari/537.36`, 'Chrome', '131'],
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2903.51`, 'Edge', '131'],
    [`Mozilla/5.0 (X11; Linux) ${webkit} Chrome/130.0.0.0 Safari/537.36 OPR/115.0.0.0`, 'Opera', '115'],
    [
      `Mozilla/5.0 (Linux; Android 14) ${webkit} SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36`,
      'Samsung Internet',
      '27',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0', 'Firefox', '132'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      'Safari',
      '18',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.1 Mobile/15E148 Safari/604.1',
      'Chrome',
      '131',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Safari/605.1.15',
      'Safari',
      '17',
    ],
    ['Mozilla/5.0 (compatible; SomeBot/2.1; +http://example.com)', 'Browser', null],
    ['okhttp/4.12.0', 'okhttp', '4'],
    ['Shop/3.2.1 CFNetwork/1410.0.3 Darwin/22.6.0', 'Shop', '3'],
    ['Dart/3.5 (dart:io)', 'Dart', '3'],
    ['Some App', 'Some App', null],
    ['app/v7-beta', 'app', '7'],
    ['app/12345678', 'app', null],
    ['', 'unnamed', null],
    ['/1', 'unnamed', '1'],
    [undefined, 'unnamed', null],
    ['__other__/1', 'unnamed', '1'],
  ])('packetSender reads the User-Agent %j as %s %s', (userAgent, name, version) => {
    expect(packetSender(userAgent)).toEqual({ name, version, transport: 'http', route: 'telemetry' });
  });
});

describe('reportSender', () => {
  const by = { transport: 'grpc', route: 'usage' } as const;

  test.each<[string | undefined, string | undefined, string, string | null]>([
    ['api/1.9.2', undefined, 'api', '1.9.2'],
    ['api/1.9.2', '2.0.0-rc.1', 'api', '2.0.0-rc.1'],
    ['billing service', '7', 'billing service', '7'],
    ['grpc-node-js/1.14.1', '', 'grpc-node-js', '1.14.1'],
    [undefined, '2.3', 'unnamed', '2.3'],
    [undefined, undefined, 'unnamed', null],
    ['api/1', `2\u0000${'x'.repeat(99)}`, 'api', `2${'x'.repeat(39)}`],
    [`fm_be_${'a'.repeat(40)}`, undefined, 'fm_be_aaaaaa…', null],
  ])('reportSender reads the User-Agent %j with the version %j as %s %s', (userAgent, appVersion, name, version) => {
    expect(reportSender(by, userAgent, appVersion)).toEqual({ name, version, ...by });
  });
});

test('names and versions of unauthenticated senders are short, printable and never __other__', () => {
  const text = fc.string({ unit: 'binary', maxLength: 600 });
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        text.map((rest) => `Mozilla/5.0 ${rest}`),
      ),
      text,
      (userAgent, appVersion) => {
        const packet = packetSender(userAgent);
        const report = reportSender({ transport: 'http', route: 'usage' }, userAgent, appVersion);
        expect(packet.version ?? '1').toMatch(/^\d{1,4}$/);
        for (const { name, version } of [packet, report]) {
          expect(name).not.toBe('__other__');
          for (const part of [name, version ?? 'none']) {
            expect(part).toMatch(/^[^\p{Cc}\p{Cs}]+$/u);
            expect([...part].length).toBeLessThanOrEqual(40);
          }
        }
      },
    ),
  );
});
