import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resemblesOurs } from '../../src/accounts/reserved-names.ts';

describe('resemblesOurs', () => {
  test.each([
    'flagmeter',
    'Flagmeter Console',
    'FLAG METER',
    'flag-meter',
    'the flagmeter command line',
    'ﬂagmeter',
    'ｆｌａｇｍｅｔｅｒ',
    '𝐟𝐥𝐚𝐠𝐦𝐞𝐭𝐞𝐫',
    'flаgmeter', // Cyrillic а
    'flаgмеtеr', // Cyrillic а, м, е, е
    'fIagmeter', // capital i
    'f1agm3ter',
    'flagrneter',
    'flágmëter',
    'flag\u200bmeter',
    'flag\u202emeter',
    'flag\u00admeter',
    'fl\u0430gmeter\u2009console',
  ])('resemblesOurs recognises the look-alike name %s', (name) => {
    expect(resemblesOurs(name)).toBe(true);
  });

  test.each(['Shop', 'Feature meter', 'Flags and meters', 'Grafana', 'ШОП', 'フラグ', 'flag', 'meter'])(
    'resemblesOurs accepts the unrelated name %s',
    (name) => {
      expect(resemblesOurs(name)).toBe(false);
    },
  );

  test('resemblesOurs recognises the name of the service within any text and in any case', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.array(fc.boolean()), (before, after, upper) => {
        const ours = Array.from('flagmeter', (c, at) => (upper[at] ? c.toUpperCase() : c)).join('');
        expect(resemblesOurs(`${before} ${ours} ${after}`)).toBe(true);
      }),
    );
  });
});
