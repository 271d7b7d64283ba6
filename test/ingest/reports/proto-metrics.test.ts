import { describe, expect, it } from 'vitest';
import { bytesField, joinFields } from '../../../src/grpc/protobuf.ts';
import { decodeMetricsReport } from '../../../src/ingest/formats/reports/proto.ts';
import { bytes, doubleField, headFields, readCode } from '../../support/proto-fields.ts';

describe('decodeMetricsReport', () => {
  const variantValues = (field: number, ...values: number[]) =>
    values.map((value, at) => bytesField(field, joinFields(bytesField(1, `v${at}`), doubleField(2, value))));
  const decodeMetric = (list: number, ...fields: Uint8Array[]) =>
    decodeMetricsReport(joinFields(headFields, bytesField(list, joinFields(...fields))));

  it.each([
    ['a stat', 4, [5], [5]],
    ['a stat', 4, [1, 2, 4], [7]],
    ['a counter', 5, [1, 2, 4], [7]],
    ['an observation', 6, [5], [5]],
    ['an observation', 6, [1, 2, 4], [1, 2, 4]],
  ])('reads %s (field %i) without a feature, with the variant values %j, as %j', (_, list, sent, values) => {
    const shift = list === 6 ? 1 : 0;
    const report = decodeMetric(list, bytesField(1 + shift, 'sales'), ...variantValues(7 + shift, ...sent));
    expect(report.values.map(({ value }) => value)).toEqual(values);
    expect(report.notes.size).toBe(0);
  });

  it('notes a stat without a value, and reads an observation without a value as zero', () => {
    expect(decodeMetric(4, bytesField(1, 'sales'))).toMatchObject({
      values: [],
      notes: new Map([['value_missing', 'sales']]),
    });
    expect(decodeMetric(5, bytesField(1, 'sales'))).toMatchObject({
      values: [],
      notes: new Map([['value_missing', 'sales']]),
    });
    const observed = { values: [{ metric: 'sales', value: 0 }], notes: new Map() };
    expect(decodeMetric(6, bytesField(2, 'sales'))).toMatchObject(observed);
  });

  it('refuses a counter with the invalid field number 0, and does not read the field as a time', () => {
    const entry = bytesField(5, joinFields(bytesField(1, 'sales'), bytes(0x02, 0x00)));
    expect(readCode(() => decodeMetricsReport(joinFields(headFields, entry)))).toBe('invalid_protobuf');
  });
});
