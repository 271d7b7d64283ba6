import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writerOf } from '../../../src/manage/exports/row-writer.ts';
import { readCsv } from '../../support/read-csv.ts';

const columns = {
  name: { description: '', example: '' },
  amount: { description: '', example: 0 },
  note: { description: '', example: null },
};
const csv = writerOf('csv', columns);
const ndjson = writerOf('ndjson', columns);

/** Texts in which what matters to CSV and to spreadsheets is frequent. */
const text = fc.string({
  unit: fc.oneof(fc.constantFrom('=', '+', '-', '@', "'", '"', ',', '\r', '\n', '\t', '＝'), fc.string()),
  maxLength: 6,
});
const cells = fc.tuple(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.option(text));

test('CSV gives back every text and number, and no cell of text can be run as a formula', () => {
  fc.assert(
    fc.property(fc.array(cells, { minLength: 1 }), (rows) => {
      const written = csv.head + rows.map((row) => csv.row(csv.part(0, row))).join('');
      const [head, ...read] = readCsv(written);
      expect(head).toEqual(['name', 'amount', 'note']);
      for (const [at, [name, amount, note]] of read.entries()) {
        for (const each of [name, note]) expect(each).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
        const unmarked = [name, note].map((each) => each!.replace(/^'/, ''));
        expect([unmarked[0], unmarked[1]]).toEqual([rows[at]![0], rows[at]![2] ?? '']);
        expect(Number(amount)).toBe(Number(`${rows[at]![1]}`));
      }
    }),
  );
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
])('CSV writes %j as %s', (value, written) => {
  expect(csv.part(0, [value])).toBe(written);
});

test.each([csv, ndjson])('three numbers are written as any other cells', (writer) => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.nat(), (...numbers) => {
      expect(writer.numbers(0, ...numbers)).toBe(writer.part(0, numbers));
    }),
  );
});

test('NDJSON has an object in each line, whatever is in it', () => {
  fc.assert(
    fc.property(fc.array(cells, { minLength: 1 }), (rows) => {
      const text = rows.map((row) =>
        ndjson.row(ndjson.part(0, row.slice(0, 1)), ndjson.part(1, row.slice(1))),
      );
      const lines = text.join('').split('\n');
      expect(lines.pop()).toBe('');
      const names = Object.keys(columns);
      expect(lines.map((line) => JSON.parse(line))).toEqual(
        rows.map((row) =>
          JSON.parse(JSON.stringify(Object.fromEntries(names.map((name, at) => [name, row[at]])))),
        ),
      );
    }),
  );
});
