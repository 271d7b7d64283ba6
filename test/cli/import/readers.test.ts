import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  csvReader,
  ndjsonReader,
  unleashReader,
  unleashVariantsReader,
  VariantChecks,
} from '../../../src/cli/import/readers.ts';
import {
  parseInteger,
  parseNumber,
  parseTime,
  type RowReader,
  splitCells,
  TimeReader,
} from '../../../src/cli/import/rows.ts';
import { csvText, originalText } from '../../../src/contract/escaping.ts';

const noon = Date.UTC(2026, 0, 31, 12) / 1000;

/** Returns the contents of the lines that are rows, and the reasons why the other lines are not rows. */
function readRows(reader: RowReader, ...lines: readonly string[]): unknown[] {
  const rows: unknown[] = [];
  for (const line of lines) {
    const reason = reader.read(line, {
      count: (...row) => void rows.push(row),
      measurement: (...row) => void rows.push(row),
    });
    if (reason !== undefined) rows.push(reason);
  }
  return rows;
}

describe('cells of CSV', () => {
  it('splitCells restores the texts that an export has written as CSV', () => {
    const oneLine = fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n]/.test(text));
    const texts = fc.array(fc.oneof(oneLine, fc.string({ unit: fc.constantFrom(...'\'=+-@;|\t, "a') })), {
      minLength: 1,
    });
    fc.assert(
      fc.property(texts, (all) => {
        expect(splitCells(all.map(csvText).join(','))?.map(originalText)).toEqual(all);
      }),
    );
  });

  it.each(['"a', 'a"b', '"a"b', '"a",b"'])('splitCells returns undefined for the unmatched quotes in %s', (line) => {
    expect(splitCells(line)).toBeUndefined();
  });

  it.each([
    ['0', 0],
    ['42', 42],
    ['9007199254740991', 2 ** 53 - 1],
    ['9007199254740992', -1],
    ['', -1],
    ['-1', -1],
    ['1.5', -1],
    ['1e3', -1],
    ['0x10', -1],
    [' 1', -1],
  ])('parseInteger reads %j as %d', (text, count) => {
    expect(parseInteger(text)).toBe(count);
  });

  it.each([
    ['0', 0],
    ['-1.5', -1.5],
    ['1e+21', 1e21],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['', Number.NaN],
    ['.5', Number.NaN],
    ['0x10', Number.NaN],
    ['Infinity', Number.NaN],
    [' 1', Number.NaN],
  ])('parseNumber reads %j as %d', (text, value) => {
    expect(parseNumber(text)).toBe(value);
  });

  it('parseTime reads milliseconds', () => {
    expect(parseTime('2026-01-31T12:00:00.057Z')).toBe(noon * 1000 + 57);
  });

  it.each([
    ['2026-01-31T12:00:00.000Z', noon],
    ['2026-01-31T13:30:00+01:30', noon],
    ['2026-01-31 12:00:00+00', noon],
    ['2026-01-31 07:00:00.123456-05', noon],
    ['2026-01-31 12:00', noon],
    ['2026-01-31', noon - 43_200],
    ['2026-02-30', Number.NaN],
    ['2026-01-31T24:00:00Z', Number.NaN],
    ['1969-12-31T23:59:59Z', Number.NaN],
    ['yesterday', Number.NaN],
    ['', Number.NaN],
  ])('TimeReader reads %j as %d', (text, time) => {
    expect(new TimeReader().read(text)).toBe(time);
  });
});

describe('the readers of usage exports', () => {
  it('the CSV reader of usage exports accepts columns in any order, and additional columns', () => {
    const reader = csvReader('f.csv', 'feature,checks,more,time,variant');
    expect(readRows(reader, 'checkout,5,x,2026-01-31T12:00:00Z,"on, or off"')).toEqual([
      [undefined, noon, 'checkout', 'on, or off', 5, 0, 0],
    ]);
  });

  it('the CSV reader of usage exports rejects a header without a necessary column', () => {
    expect(() => csvReader('f.csv', 'time,variant')).toThrow(/f\.csv.*lacks the columns feature, checks/);
  });

  it('the CSV reader of usage exports rejects a repeated column, unless the column has no name', () => {
    const header = 'time,feature,variant,checks';
    expect(() => csvReader('f.csv', `${header},checks,time`)).toThrow(/f\.csv.*repeats the columns checks, time$/);
    expect(readRows(csvReader('f.csv', `${header},,`), '2026-01-31T12:00:00Z,checkout,on,5,,')).toHaveLength(1);
  });

  it('the reader of usage exports rejects a count if the sum of all counts exceeds 2^53 - 1', () => {
    const reader = csvReader('f.csv', 'time,feature,variant,checks,used');
    const row = (checks: number, used: number) => `2026-01-31T12:00:00Z,checkout,on,${checks},${used}`;
    const most = Number.MAX_SAFE_INTEGER;
    expect(readRows(reader, row(most, 1), row(most - 3, 1), row(3, 0), row(2, 0))).toEqual([
      'the counts of the file up to here exceed 2^53 - 1',
      [undefined, noon, 'checkout', 'on', most - 3, 1, 0],
      'the counts of the file up to here exceed 2^53 - 1',
      [undefined, noon, 'checkout', 'on', 2, 0, 0],
    ]);
  });

  it('the CSV reader of usage exports reports bad lines', () => {
    const reader = csvReader('f.csv', 'time,environment,feature,variant,checks,used,viewed');
    const lines = [
      '2026-01-31T12:00:00Z,Production,checkout,on,5,3',
      '2026-01-31T12:00:00Z,Production,"checkout,on,5,3,2',
      'today,Production,checkout,on,5,3,2',
      '2026-01-31T12:00:00Z,Production,,on,5,3,2',
      `2026-01-31T12:00:00Z,Production,checkout,${'x'.repeat(257)},5,3,2`,
      '2026-01-31T12:00:00Z,Production,checkout,on,5,-3,2',
      '2026-01-31T12:00:00Z,Production,checkout,on,5,3,2',
    ];
    expect(readRows(reader, ...lines)).toEqual([
      'wrong number of cells',
      'quotes do not match',
      'time is not valid',
      'feature is not a valid name',
      'variant is not a valid name',
      'a count is not an integer from 0',
      ['Production', noon, 'checkout', 'on', 5, 3, 2],
    ]);
  });

  it('the NDJSON reader of usage exports reports bad lines', () => {
    const row = { time: '2026-01-31T12:00:00Z', environment: 'Production', feature: '__proto__', variant: 'on' };
    const lines = ['{', '[]', '1', JSON.stringify(row), JSON.stringify({ ...row, checks: 2 ** 53 })];
    expect(readRows(ndjsonReader(), ...lines, JSON.stringify({ ...row, checks: 5, viewed: 2 }))).toEqual([
      'not a JSON object',
      'not a JSON object',
      'not a JSON object',
      'a count is not an integer from 0',
      'a count is not an integer from 0',
      ['Production', noon, '__proto__', 'on', 5, 0, 2],
    ]);
  });
});

describe('the readers of measurement exports', () => {
  const header = 'time,environment,metric,feature,variant,kind,value,sum,count,last,lastAt,min,max';
  const time = '2026-01-31T12:00:00Z';
  const lastAt = '2026-01-31T12:00:30.250Z';
  const values = [3.5, 2, 1, noon * 1000 + 30_250, 1, 2.5];

  it('the CSV reader of measurement exports reads metrics of the application and of features', () => {
    const reader = csvReader('f.csv', header);
    const lines = [
      `${time},Production,purchases,,,counter,3.5,3.5,2,1,${lastAt},1,2.5`,
      `${time},Production,'=sum,checkout,"on, or off",gauge,1,3.5,2,1,${lastAt},1,2.5`,
    ];
    expect(readRows(reader, ...lines)).toEqual([
      ['Production', noon, ['purchases'], values],
      ['Production', noon, ['=sum', 'checkout', 'on, or off'], values],
    ]);
  });

  it('the CSV reader of measurement exports reports bad lines', () => {
    const row = (text: string) => `${time},Production,${text}`;
    const lines = [
      row(`,,,counter,3,3,2,1,${lastAt},1,2`),
      row(`purchases,checkout,,counter,3,3,2,1,${lastAt},1,2`),
      row(`purchases,,,counter,3,3,0,1,${lastAt},1,2`),
      row('purchases,,,counter,3,3,2,1,today,1,2'),
      row(`purchases,,,counter,3,1e999,2,1,${lastAt},1,2`),
      row(`purchases,,,counter,3,3,2,7,${lastAt},1,2`),
    ];
    expect(readRows(csvReader('f.csv', header), ...lines)).toEqual([
      'metric is not a valid name',
      'variant is not a valid name',
      'count is not an integer from 1',
      'lastAt is not valid',
      'a value is not a number',
      'last is not between min and max',
    ]);
  });

  it('the CSV reader of measurement exports rejects a header without a necessary column', () => {
    expect(() => csvReader('f.csv', 'time,metric,sum')).toThrow(/lacks the columns count, last, lastAt/);
  });

  it('the NDJSON reader of measurement exports accepts null for missing names', () => {
    const row = { time, environment: 'Production', metric: 'purchases', feature: null, variant: null };
    const line = JSON.stringify({ ...row, sum: 3.5, count: 2, last: 1, lastAt, min: 1, max: 2.5 });
    expect(readRows(ndjsonReader(), line, JSON.stringify(row))).toEqual([
      ['Production', noon, ['purchases'], values],
      'count is not an integer from 1',
    ]);
  });
});

describe('the readers of Unleash tables', () => {
  const metrics = 'feature_name,app_name,environment,timestamp,yes,no';
  const variants = 'feature_name,app_name,environment,timestamp,variant,count';
  const key = 'checkout,web,production,2026-01-31 12:00:00+00';

  it('the Unleash reader counts yes as enabled and no as disabled if there is no variants table', () => {
    const reader = unleashReader('m.csv', metrics, new VariantChecks());
    expect(readRows(reader, `${key},5,2`, `${key},0,1`, `${key},0,0`, `${key},-1,0`)).toEqual([
      ['production', noon, 'checkout', 'enabled', 5, 0, 0],
      ['production', noon, 'checkout', 'disabled', 2, 0, 0],
      ['production', noon, 'checkout', 'disabled', 1, 0, 0],
      'a count is not an integer from 0',
    ]);
  });

  it('the Unleash reader counts a check for its variant, or for enabled or disabled if it has no variant', () => {
    const covered = new VariantChecks();
    const reader = unleashVariantsReader('v.csv', variants, covered);
    const rows = [`${key},blue,3`, `${key},red,1`, `${key},disabled,9`, `${key.replace('web', 'app')},blue,7`];
    expect(readRows(reader, ...rows)).toEqual([
      ['production', noon, 'checkout', 'blue', 3, 0, 0],
      ['production', noon, 'checkout', 'red', 1, 0, 0],
      ['production', noon, 'checkout', 'blue', 7, 0, 0],
    ]);
    covered.isComplete = true;
    readRows(reader, ...rows); // A second reading of the variants must not add their checks again.
    const main = unleashReader('m.csv', metrics, covered);
    expect(readRows(main, `${key},5,2`, `${key.replace('web', 'app')},6,3`)).toEqual([
      ['production', noon, 'checkout', 'enabled', 1, 0, 0],
      ['production', noon, 'checkout', 'disabled', 2, 0, 0],
      ['production', noon, 'checkout', 'disabled', 2, 0, 0],
    ]);
  });

  it('the Unleash reader accepts a column named date in tables with one row per day', () => {
    const reader = unleashReader('d.csv', metrics.replace('timestamp', 'date'), new VariantChecks());
    expect(readRows(reader, 'checkout,web,production,2026-01-31,5,0')).toEqual([
      ['production', noon - 43_200, 'checkout', 'enabled', 5, 0, 0],
    ]);
  });
});
