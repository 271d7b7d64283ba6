import { describe, expect, it } from 'vitest';
import { labelOf, show } from '../../src/cli/show.ts';
import { recordText, tableText } from '../../src/cli/table.ts';

describe('a table', () => {
  it('is aligned, whatever the characters, and has nothing behind the last column', () => {
    const rows = [
      ['a', 'Shop', ''],
      ['longer', '世界', 'x'],
      ['b', 'e\u0301te\u0301 🎉', 'y'],
    ];
    expect(tableText(['ID', 'NAME', 'MORE'], rows, false).split('\n')).toEqual([
      'ID      NAME    MORE',
      'a       Shop',
      'longer  世界    x',
      'b       e\u0301te\u0301 🎉  y',
      '',
    ]);
  });

  it('has its titles in bold where that can be seen', () => {
    expect(tableText(['ID'], [['a']], true)).toBe('\u001b[1mID\u001b[0m\na\n');
  });

  it('shows what a terminal would obey', () => {
    const odd = 'a\u001b[31mb\nc\u202ed\u0007\u009be';
    expect(tableText(['ID'], [[odd]], false)).toBe('ID\na\ufffd[31mb\ufffdc\ufffdd\ufffd\ufffde\n');
    expect(recordText([['Name', odd]])).toBe('  Name  a\ufffd[31mb\ufffdc\ufffdd\ufffd\ufffde\n');
  });

  it('of one thing has its labels aligned', () => {
    const fields = [
      ['Id', 'x'],
      ['Client secret', 'y'],
    ] as const;
    expect(recordText(fields)).toBe('  Id             x\n  Client secret  y\n');
  });
});

describe('a value', () => {
  it.each<[unknown, string]>([
    [null, '-'],
    [undefined, '-'],
    ['', '-'],
    [[], '-'],
    [true, 'yes'],
    [false, 'no'],
    [0, '0'],
    ['2026-01-02T03:04:05.678Z', '2026-01-02 03:04:05 UTC'],
    ['at 2026-01-02T03:04:05Z', 'at 2026-01-02T03:04:05Z'],
    [['a', 'b'], 'a, b'],
    [[{ name: 'Production', createdAt: 'x' }, { name: 'Staging' }], 'Production, Staging'],
    [[{ code: 'leaked', message: 'x' }], 'leaked'],
    [{ other: 1 }, '{"other":1}'],
  ])('%j is shown as %s', (value, text) => {
    expect(show(value)).toBe(text);
  });

  it('has the name of its field for people', () => {
    expect(['id', 'clientSecret', 'firstSeenAt'].map(labelOf)).toEqual([
      'Id',
      'Client secret',
      'First seen at',
    ]);
  });
});
