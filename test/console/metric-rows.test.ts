import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketsFrom, computeFigure, latest, metricRows, valuesIn } from '../../src/console/pages/metrics/rows.ts';
import type { MetricMeasurements } from '../../src/contract/shapes/reports.ts';

const buckets = { start: 600, width: 60, count: 5 };

function measured(metric: string, more: Partial<MetricMeasurements> = {}): MetricMeasurements {
  const figures = { sum: 6, count: 3, last: 2, min: 1, max: 3, value: 6 };
  const series: MetricMeasurements['series'] = [
    [660, 4],
    [780, 2],
  ];
  return { metric, kind: 'counter', lastAt: '2026-01-31T12:00:00.000Z', ...figures, series, ...more };
}

test('the metrics table has a row for each declared or measured metric, sorted by name', () => {
  const rows = metricRows(
    [
      { name: 'cart', kind: 'gauge', unit: 'EUR', declared: true },
      { name: 'absent', kind: 'counter', declared: true },
    ],
    [measured('seen'), measured('cart', { kind: 'gauge' })],
  );
  expect(rows.map(({ name, kind, unit, declared, series }) => [name, kind, unit, declared, series.length])).toEqual([
    ['absent', 'counter', undefined, true, 0],
    ['cart', 'gauge', 'EUR', true, 1],
    ['seen', 'counter', undefined, false, 1],
  ]);
  expect(rows.map(computeFigure)).toEqual([undefined, 2, 6]);
});

test('the metrics table sums the variants of a flag metric in one row', () => {
  const of = { feature: 'checkout' };
  const [own, flag, ...more] = metricRows(
    [],
    [
      measured('revenue', { ...of, variant: 'on' }),
      measured('revenue', { ...of, variant: 'off' }),
      measured('revenue'),
    ],
  );
  expect(more).toEqual([]);
  expect(own?.feature).toBeUndefined();
  expect(flag).toMatchObject({ name: 'revenue', feature: 'checkout' });
  expect(computeFigure(flag!)).toBe(12);
});

test('the metrics table shows the last value of a gauge', () => {
  const series = [
    measured('load', { variant: 'on', last: 7, lastAt: '2026-01-31T13:00:00.000Z' }),
    measured('load', { variant: 'off', last: 9 }),
  ];
  expect(latest(series)?.variant).toBe('on');
  const [row] = metricRows([{ name: 'load', kind: 'gauge', declared: true }], series);
  expect(computeFigure(row!)).toBe(7);
});

describe('the values of all buckets', () => {
  test('the value of a counter is 0 in a bucket without a measurement', () => {
    expect(valuesIn(buckets, 'counter', measured('m').series)).toEqual([0, 4, 0, 2, 0]);
  });

  test('the value of a gauge in a bucket without a measurement is its previous value', () => {
    expect(valuesIn(buckets, 'gauge', measured('m').series)).toEqual([4, 4, 4, 2, 2]);
    expect(valuesIn(bucketsFrom(buckets, [measured('m')]), 'gauge', measured('m').series)).toEqual([4, 4, 2, 2]);
  });

  test('the values of a metric omit measurements outside of the range', () => {
    expect(
      valuesIn(buckets, 'counter', [
        [540, 9],
        [600, 1],
        [899, 2],
        [900, 9],
      ]),
    ).toEqual([1, 0, 0, 0, 2]);
  });

  test('the values of a counter add up to all of its measurements', () => {
    const point = fc.tuple(fc.integer({ min: 600, max: 899 }), fc.integer({ min: 0, max: 1000 }));
    fc.assert(
      fc.property(fc.array(point), (points) => {
        const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
        expect(sum(valuesIn(buckets, 'counter', points))).toBe(sum(points.map(([, value]) => value)));
      }),
    );
  });
});
