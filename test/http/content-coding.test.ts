import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codingFor } from '../../src/http/negotiation.ts';

describe('codingFor', () => {
  test.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br, gzip', 'br'],
    ['gzip, br', 'br'],
    ['br;q=0.2, gzip;q=0.3', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.000, gzip ; q=0.001', 'gzip'],
    ['deflate', undefined],
    ['identity', undefined],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0', undefined],
    ['*;q=0, gzip', 'gzip'],
    ['gzip;q=0', undefined],
    ['identity;q=0.5, gzip;q=0.4', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity, *;q=0.1', undefined],
    ['identity;q=0, *', 'br'],
    ['identity;q=0', undefined],
    ['gzip;q=2', undefined],
    ['gzip;q=', undefined],
    ['gzip;q=-1, br;q=0.1', 'br'],
    ['gzip;level=9', 'gzip'],
  ])('the Accept-Encoding %j selects %j from br and gzip', (header, coding) => {
    expect(codingFor(header, ['br', 'gzip'])).toBe(coding);
  });

  test('codingFor returns only an offered coding that the client accepts', () => {
    const part = fc.stringMatching(/^ ?(gzip|br|identity|\*|x)( ?; ?q=[01]?\.?[0-9]{0,3})?$/);
    const headers = fc.oneof(fc.string(), fc.array(part).map(String));
    fc.assert(
      fc.property(headers, fc.subarray(['br', 'gzip']), (header, offered) => {
        const coding = codingFor(header, offered);
        if (coding === undefined) return;
        expect(offered).toContain(coding);
        expect(header).toMatch(/br|gzip|\*/i);
        expect(codingFor(`${header},${coding};q=0`, offered)).not.toBe(coding);
      }),
    );
  });
});
