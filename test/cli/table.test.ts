import { describe, expect, it } from 'vitest';
import { formatLabel, makeTable, recordText, show } from '../../src/cli/show.ts';

function tableText(titles: readonly string[], rows: readonly string[][], styled: boolean): string {
  const headings = titles.map((title) => ({ title }));
  return makeTable(headings, rows, { styled, width: undefined }).text;
}

describe('makeTable', () => {
  it('makeTable aligns columns with any characters, and adds no trailing spaces', () => {
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

  it('makeTable makes the titles bold on a terminal', () => {
    expect(tableText(['ID'], [['a']], true)).toBe('\u001b[1mID\u001b[0m\na\n');
  });

  it('makeTable replaces control characters', () => {
    const odd = 'a\u001b[31mb\nc\u202ed\u0007\u009be';
    expect(tableText(['ID'], [[odd]], false)).toBe('ID\na\ufffd[31mb\ufffdc\ufffdd\ufffd\ufffde\n');
    expect(recordText([['Name', odd]])).toBe('  Name  a\ufffd[31mb\ufffdc\ufffdd\ufffd\ufffde\n');
  });

  it('recordText aligns the values of an item in a column after their labels', () => {
    const fields = [
      ['Id', 'x'],
      ['Client secret', 'y'],
    ] as const;
    expect(recordText(fields)).toBe('  Id             x\n  Client secret  y\n');
  });
});

describe('a table on a terminal', () => {
  const headings = [
    { title: 'ID' },
    { title: 'NAME', cut: 'last' },
    { title: 'COUNT', right: true },
    { title: 'TEXT', cut: true },
    { title: 'LAST' },
  ] as const;
  const rows = [
    ['app_1234567890', 'a name that is rather long', '7', '世界世界世界世界世界世界世界世界', 'x'.repeat(20)],
    ['app_2', 'short', '12345', 'é', 'y'],
  ];
  const measureLines = (text: string) =>
    text.split('\n').map((line) => line.length + (line.match(/[世界]/g)?.length ?? 0));

  it.each([20, 40, 60, 70, 80, 100, 120])('a table fits a terminal of %i columns', (width) => {
    const { text } = makeTable(headings, rows, { styled: false, width });
    expect(Math.max(...measureLines(text))).toBeLessThanOrEqual(width);
  });

  it('a table first truncates the widest texts, and then drops its last columns if necessary', () => {
    const at = (width: number) => makeTable(headings, rows, { styled: false, width });
    expect(at(200).text).toContain('a name that is rather long');
    expect(at(80)).toMatchObject({ leftOut: ['LAST'], text: expect.stringContaining(' a name that is rather long ') });
    expect(at(80).text).toContain('app_1234567890');
    expect(at(50).leftOut).toEqual(['TEXT', 'LAST']);
    expect(at(50).text).toContain(' a name that is rather long ');
    expect(at(5).leftOut).toEqual(['NAME', 'COUNT', 'TEXT', 'LAST']);
  });

  it('a table first omits columns without values and ids, so that other texts are complete', () => {
    const columns = [
      { title: 'NAME', cut: true },
      { title: 'EXPIRES' },
      { title: 'TEXT', cut: true },
      { title: 'ID', id: true },
    ] as const;
    const items = [['a name of a key', '-', 'a text that is complete', 'key_1234567890']];
    const at = (width: number) => makeTable(columns, items, { styled: false, width });
    expect(at(80).text).toMatch(/^NAME +EXPIRES +TEXT +ID\n/);
    expect(at(60)).toMatchObject({ leftOut: [], text: expect.stringMatching(/^NAME +TEXT +ID\n/) });
    expect(at(45)).toEqual({
      leftOut: ['ID'],
      text: 'NAME             TEXT\na name of a key  a text that is complete\n',
    });
  });

  it.each([
    ['at their ends', 'checkout.payment.provider.experiment.version-', ''],
    ['at their ends, in wide characters', '世界'.repeat(20), ''],
    ['far from both ends', 'checkout.payment.provider.experiment.', '.of.the.second.quarter.in.all.countries'],
    ['in their middles', 'checkout.payment.provider.', '.experiment.version.of.the.second.quarter'],
    ['at their starts', '', 'checkout.payment.provider.experiment.version.of.all'],
  ])('a table shows different cells for long names that differ %s', (_, before, after) => {
    const names = [1, 2, 3, 10, 11].map((number) => [`${before}${number}${after}`, 'x'.repeat(30)]);
    const { text } = makeTable([{ title: 'NAME', cut: 'last' }, { title: 'LAST' }], names, {
      styled: false,
      width: 64,
    });
    expect(Math.max(...measureLines(text))).toBeLessThanOrEqual(64);
    expect(new Set(text.trimEnd().split('\n').slice(1)).size).toBe(names.length);
  });

  it('a table aligns numbers to the right', () => {
    expect(makeTable(headings.slice(2, 3), [['7'], ['12345']], { styled: false, width: 80 }).text).toBe(
      'COUNT\n    7\n12345\n',
    );
  });
});

describe('show', () => {
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
    [{ otherName: 1, unknown: null }, 'other name 1'],
    [{ unknown: null }, '-'],
    [
      [
        { a: 1, b: 2 },
        { a: 3, b: 4 },
      ],
      'a 1, b 2; a 3, b 4',
    ],
  ])('show formats the value %j as %s', (value, text) => {
    expect(show(value)).toBe(text);
  });

  it('formatLabel returns the label of a field name', () => {
    expect(['id', 'clientSecret', 'firstSeenAt'].map(formatLabel)).toEqual(['Id', 'Client secret', 'First seen at']);
  });
});
