import { describe, expect, test } from 'vitest';
import { isName } from '../../../src/contract/names.ts';
import { bytesField, joinFields, numberField } from '../../../src/grpc/protobuf.ts';
import { decodeMetrics, decodeUsage } from '../../../src/ingest/formats/reports/json.ts';
import { decodeMetricsReport, decodeUsageReport } from '../../../src/ingest/formats/reports/proto.ts';
import type { MetricsReport, Report, UsageReport } from '../../../src/ingest/formats/reports/report.ts';
import { metricsInPart, usageInPart } from '../../fixtures/reports/in-part.ts';
import { bytes, doubleField, headFields } from '../../support/proto-fields.ts';

const listNotes = ({ notes }: Report) =>
  [...notes].map(([code, path]) => (path === undefined ? code : `${code}; ${path}`));

const head = '"appKey":"key","environment":"Production","time":"2026-01-31T12:00:00Z"';

const listCounts = ({ variants }: UsageReport) =>
  variants.map(({ feature, variant, checks, used, viewed }) => [feature, variant, checks, used, viewed]);
const listValues = ({ values }: MetricsReport) =>
  values.map(({ metric, feature = '', variant = '', value }) => [metric, feature, variant, value]);

describe('JSON report with an invalid value', () => {
  test.each(usageInPart)(
    'counts the rest of a usage report with $name',
    ({ fields, statCount, notes, counts, hashes = [] }) => {
      const report = decodeUsage(`{${head},${fields}}`);
      expect(listCounts(report)).toEqual(counts);
      expect(report).toMatchObject({ statCount, environmentHashes: hashes });
      expect(listNotes(report)).toEqual(notes);
    },
  );

  test.each(metricsInPart)('counts the rest of a metrics report with $name', ({ fields, statCount, notes, values }) => {
    const report = decodeMetrics(`{${head},${fields}}`);
    expect(listValues(report)).toEqual(values);
    expect(report).toMatchObject({ statCount });
    expect(listNotes(report)).toEqual(notes);
  });
});

const minusOne = bytes(...Array<number>(9).fill(0xff), 0x01);
const negative = (field: number) => Buffer.concat([bytes(field * 8), minusOne]);
const named = (field: number, name: string | Uint8Array, ...fields: Uint8Array[]) =>
  bytesField(field, joinFields(bytesField(1, name), ...fields));
/** U+D800, as some senders encode it. */
const surrogate = Buffer.of(0xed, 0xa0, 0x80);
const badNumbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

describe('protobuf report with an invalid value', () => {
  const near = named(4, 'near', named(11, 'on', bytesField(2, numberField(1, 1))));
  const nearCounts = ['near', 'on', 1, 0, 0];
  const usage = (...fields: Uint8Array[]) => decodeUsageReport(joinFields(headFields, ...fields, near));

  test.each([
    [1, [0, 0, 0]],
    [3, [5, 0, 0]],
    [4, [5, 0, 0]],
  ])('counts the rest of a usage report with a negative count in field %i of a variant', (field, counts) => {
    const bad = named(11, 'bad', bytesField(2, joinFields(numberField(1, 5), negative(field))));
    const report = usage(named(4, 'a', bad, numberField(2, 9)));
    expect({ counts: listCounts(report), notes: listNotes(report) }).toEqual({
      counts: [['a', 'bad', ...counts], nearCounts],
      notes: ['value_dropped; stats[0].variantStats.bad'],
    });
  });

  test.each([
    [2, [0, 7]],
    [3, [5, 0]],
    [8, [5, 7]],
  ])(
    'counts the rest of a usage report with a negative count in field %i of an entry',
    (field, [enabled, disabled]) => {
      const report = usage(named(4, 'a', numberField(2, 5), numberField(3, 7), negative(field)));
      expect({ counts: listCounts(report), notes: listNotes(report) }).toEqual({
        counts: [['a', 'enabled', enabled, 0, 0], ['a', 'disabled', disabled, 0, 0], nearCounts],
        notes: ['value_dropped; stats[0]'],
      });
    },
  );

  test('counts all of a usage report with negative counts in ignored fields', () => {
    const ignored = [4, 5, 6, 7, 9].map(negative);
    const request = named(11, 'on', bytesField(2, joinFields(numberField(1, 3), negative(2))));
    const report = usage(named(4, 'a', ...ignored, request), ...[5, 10, 11].map(negative));
    expect({ counts: listCounts(report), notes: listNotes(report) }).toEqual({
      counts: [['a', 'on', 3, 0, 0], nearCounts],
      notes: [],
    });
  });

  test.each([
    ['feature', (name: Buffer) => named(4, name, numberField(2, 5))],
    ['variant', (name: Buffer) => named(4, 'a', named(11, name, bytesField(2, numberField(1, 5))))],
  ])('counts the rest of a usage report in which the name of a %s is not UTF-8', (_, entry) => {
    const report = usage(entry(surrogate));
    const [bad, ...rest] = listCounts(report);
    expect(bad!.slice(0, 2).map((name) => isName(name as string))).toContain(false);
    expect(rest).toEqual([nearCounts]);
  });

  test('counts a usage report whose instance name and version are not UTF-8', () => {
    const report = usage(bytesField(6, surrogate), bytesField(8, surrogate));
    expect(report).toMatchObject({ instanceName: undefined });
    expect(listNotes(report)).toEqual(['name_dropped; instanceName']);
    expect(listCounts(report)).toEqual([nearCounts]);
  });

  test('counts the rest of a metrics report with names that are not UTF-8', () => {
    const whole = named(4, 'near', doubleField(5, 1));
    const metric = named(4, surrogate, doubleField(5, 1));
    const feature = named(4, 'a', bytesField(4, surrogate), doubleField(5, 1));
    const variant = named(4, 'a', bytesField(4, 'f'), named(7, surrogate, doubleField(2, 1)));
    const report = decodeMetricsReport(joinFields(headFields, metric, feature, variant, whole));
    const invalid = listValues(report).map(([...names]) =>
      names.slice(0, 3).some((name) => name !== '' && !isName(name as string)),
    );
    expect(invalid).toEqual([true, true, true, false]);
  });

  test('counts a usage report with an invalid process start time', () => {
    const report = usage(bytesField(7, numberField(2, 1_000_000_000)));
    expect(report).toMatchObject({ processStartTime: undefined });
    expect(listNotes(report)).toEqual(['value_dropped; processStartTime']);
    expect(listCounts(report)).toEqual([nearCounts]);
  });

  test.each(badNumbers)('counts the rest of a metrics report with the value %d', (value) => {
    const bad = (field: number, shift = 0) =>
      bytesField(field, joinFields(bytesField(1 + shift, 'bad'), doubleField(5 + shift, value)));
    const sum = named(
      4,
      'sum',
      named(7, 'x', doubleField(2, 1)),
      named(7, 'bad', doubleField(2, value)),
      named(7, 'y', doubleField(2, 2)),
    );
    const side = named(4, 'side', bytesField(4, 'f'), doubleField(5, 3), doubleField(6, value));
    const report = decodeMetricsReport(joinFields(headFields, bad(4), bad(5), bad(6, 1), sum, side));
    expect({ values: listValues(report), notes: listNotes(report) }).toEqual({
      values: [
        ['sum', '', '', 3],
        ['side', 'f', 'enabled', 3],
      ],
      notes: ['value_dropped; bad'],
    });
  });

  test('an observation with an invalid time gets the time of its report', () => {
    const time = bytesField(1, numberField(2, 1_000_000_000));
    const observed = bytesField(6, joinFields(time, bytesField(2, 'a'), doubleField(6, 1)));
    const report = decodeMetricsReport(joinFields(headFields, observed));
    expect(report).toMatchObject({ values: [{ value: 1, time: report.time }] });
    expect(listNotes(report)).toEqual(['value_dropped; observations.time']);
  });
});

test('a metric without a value and a metric with an invalid value get different notes', () => {
  const notes = (entries: string) => [...decodeMetrics(`{${head},"stats":[${entries}]}`).notes.keys()];
  expect(notes('{"metric":"a"}')).toEqual(['value_missing']);
  expect(notes('{"metric":"a","value":null},{"metric":"a","value":[]}')).toEqual(['value_missing']);
  expect(notes('{"metric":"a","value":1e400}')).toEqual(['value_dropped']);
  expect(notes('{"metric":"a","value":1e400},{"metric":"b"}')).toEqual(['value_dropped', 'value_missing']);
});
