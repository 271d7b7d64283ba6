import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Cell, type RowFormat, RowWriter } from '../../../src/reports/exports/row-writer.ts';
import { readCsv } from '../../support/read-csv.ts';

const columns = {
  name: { description: '', example: '' },
  amount: { description: '', example: 0 },
  note: { description: '', example: null },
};
const formats = ['csv', 'ndjson'] as const;

function writeText(format: RowFormat, rows: readonly (readonly (readonly Cell[])[])[]): string {
  const writer = new RowWriter(format, columns);
  for (const parts of rows) {
    let column = 0;
    for (const part of parts) {
      writer.add(writer.encode(column, part));
      column += part.length;
    }
    writer.end();
  }
  return new TextDecoder().decode(writer.rest());
}

/** Texts with many characters that are special in CSV and spreadsheets. */
const text = fc.string({
  unit: fc.oneof(fc.constantFrom('=', '+', '-', '@', "'", '"', ',', '\r', '\n', '\t', '＝', ';', '|'), fc.string()),
  maxLength: 6,
});
const cells = fc.tuple(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.option(text));

test('CSV preserves all texts and numbers, and a spreadsheet runs no text as a formula', () => {
  fc.assert(
    fc.property(fc.array(cells, { minLength: 1 }), (rows) => {
      const [head, ...read] = readCsv(
        writeText(
          'csv',
          rows.map((row) => [row]),
        ),
      );
      expect(head).toEqual(['name', 'amount', 'note']);
      for (const [at, [name, amount, note]] of read.entries()) {
        for (const each of [name, note]) expect(each).not.toMatch(/^[\t\r\n]|(?<=^|[;|\t\r\n])[\s"]*[=+\-@＝＋－＠]/);
        const unmarked = [name, note].map((each) => each!.replace(/(?<=^|[;|\t\r\n])'/g, ''));
        expect([unmarked[0], unmarked[1]]).toEqual([rows[at]![0], rows[at]![2] ?? '']);
        expect(Number(amount)).toBe(Number(`${rows[at]![1]}`));
      }
    }),
  );
});

test('a CSV cell separates the items of a list with commas, and shows a list of objects as JSON', () => {
  const steps = [{ at: '2026-01-01T00:00:00Z', split: { on: 1 } }];
  const [, row] = readCsv(writeText('csv', [[['checkout', ['Q4', 'web'], steps]]]));
  expect(row!.slice(0, 2)).toEqual(['checkout', 'Q4, web']);
  expect(JSON.parse(row![2]!)).toEqual(steps);
});

test.each([
  ['checkout', 'checkout'],
  ['=1+1', "'=1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ["'quoted", "''quoted"],
  ['a,b', '"a,b"'],
  ['say "yes"', '"say ""yes"""'],
  ['-"x', '"\'-""x"'],
  ['Größe', 'Größe'],
  [-5, '-5'],
  [null, ''],
  [true, 'true'],
  [{ on: 1 }, '"{""on"":1}"'],
])('the value %j is written in CSV as %s', (value, written) => {
  expect(writeText('csv', [[[value]]])).toBe(`name,amount,note\r\n${written}\r\n`);
});

/** Numbers of every length, and the numbers next to them. */
const number = fc.oneof(
  fc.nat({ max: 16 }).chain((digits) => fc.constantFrom(10 ** digits, 10 ** digits - 1, 10 ** digits + 1)),
  fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 53, -0, 0.5, 1e21),
  fc.nat(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

test.each(formats)('the %s format writes a number in the same way as any other cell', (format) => {
  fc.assert(
    fc.property(number, (value) => {
      const writer = new RowWriter(format, columns);
      writer.add(writer.encode(0, ['a']));
      writer.number(1, value);
      writer.add(writer.encode(2, ['b']));
      writer.end();
      expect(new TextDecoder().decode(writer.rest())).toBe(writeText(format, [[['a', value, 'b']]]));
    }),
  );
});

test.each(formats)('chunks of different lengths contain all rows in the %s format', (format) => {
  fc.assert(
    fc.property(fc.array(cells, { maxLength: 20 }), fc.integer({ min: 1, max: 100 }), (rows, length) => {
      const writer = new RowWriter(format, columns);
      const chunks: Uint8Array[] = [];
      const take = () => {
        const chunk = new Uint8Array(length);
        chunks.push(chunk.subarray(0, writer.moveTo(chunk)));
      };
      for (const row of rows) {
        writer.add(writer.encode(0, row));
        writer.end();
        take();
      }
      while (writer.rest().length > 0) take();
      const all = rows.map((row) => [row]);
      expect(Buffer.concat(chunks).toString()).toBe(writeText(format, all));
    }),
  );
});

test('NDJSON has one object per line, even if values contain line breaks', () => {
  fc.assert(
    fc.property(fc.array(cells, { minLength: 1 }), (rows) => {
      const parts = rows.map((row) => [row.slice(0, 1), row.slice(1)]);
      const lines = writeText('ndjson', parts).split('\n');
      expect(lines.pop()).toBe('');
      const names = Object.keys(columns);
      expect(lines.map((line) => JSON.parse(line))).toEqual(
        rows.map((row) => JSON.parse(JSON.stringify(Object.fromEntries(names.map((name, at) => [name, row[at]]))))),
      );
    }),
  );
});
