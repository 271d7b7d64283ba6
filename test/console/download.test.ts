import { describe, expect, test } from 'vitest';
import { toCsv } from '../../src/console/components/download.ts';

describe('CSV', () => {
  test.each([
    ['a text', 'checkout', 'checkout'],
    ['a comma', 'a,b', '"a,b"'],
    ['quotes', 'say "on"', '"say ""on"""'],
    ['a line break', 'a\nb', '"a\nb"'],
    ['null', null, ''],
    ['undefined', undefined, ''],
    ['a number', 4_123_456, '4123456'],
    ['a negative number', -1.5, '-1.5'],
    ['a boolean', true, 'true'],
    ['a formula', '=1+1', "'=1+1"],
    ['a formula with a plus', '+1', "'+1"],
    ['a formula with a minus', '-1', "'-1"],
    ['a formula with an at sign', '@SUM(A1)', "'@SUM(A1)"],
    ['a formula with a comma', '=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['a tab before a formula', '\t=1', "'\t'=1"],
    ['a formula after a semicolon', 'a;=1+1', "a;'=1+1"],
    ['a formula after a semicolon, a space and a quote', 'a; "=1+1"', `"a;' ""=1+1"""`],
    ['a formula after a tab', 'x\t=cmd', "x\t'=cmd"],
    ['a formula after a line break', 'x\n@SUM(A1)', `"x\n'@SUM(A1)"`],
    ['a full-width formula after a bar', 'x|＝1', "x|'＝1"],
    ['an apostrophe', "'quoted'", "''quoted'"],
  ])('toCsv writes the field $2 for %s', (_, value, text) => {
    expect(toCsv(['name'], [[value]])).toBe(`name\r\n${text}\r\n`);
  });

  test('toCsv writes a header line, and then a line for each row', () => {
    expect(
      toCsv(
        ['flag', 'checks'],
        [
          ['a', 1],
          ['b', 2],
        ],
      ),
    ).toBe('flag,checks\r\na,1\r\nb,2\r\n');
  });
});
