import { MeasurementsReport } from '../../contract/shapes/reports.ts';
import {
  bucketWidth,
  type Measurement,
  measurementCodec,
  minutesPerDay,
  scanCells,
} from '../../storage/lmdb/blocks.ts';
import type { Reading } from '../../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import type { MeasurementsTask } from '../usage/measurements-report.ts';
import { PointBudget } from '../usage/report-range.ts';
import { pickSeries } from '../usage/sights.ts';
import { sumUp } from '../usage/sum-up.ts';
import { columnsIn, type RowWriter } from './row-writer.ts';
import type { Rows } from './rows.ts';
import { byName, ofSeries, rolledUp } from './usage.ts';

export const measurementColumns = { ...ofSeries, ...columnsIn(MeasurementsReport, 'metrics') };

/** The series of a metric: its position in the rows, and the encoded values that all of its rows share. */
interface NamedMetric {
  readonly place: number;
  readonly cells: Uint8Array;
  readonly isGauge: boolean;
}

type Point = readonly [t: number, metric: NamedMetric, cell: Measurement];

/**
 * Yields the measurements of an environment by time and metric. Holds one day of buckets in memory, or one hour if the
 * buckets are minutes.
 * @throws {Refusal} if a day is rolled up after some of its hours were read, because its other hours are lost
 */
export function* measurementRows(store: UsageTables, task: MeasurementsTask, writer: RowWriter): Rows {
  const { environment, range } = task;
  const series = yield* metricsInOrder(store, task, writer);
  const source = { store, series, budget: new PointBudget(Number.POSITIVE_INFINITY) };
  const width = range.step === 'minute' ? 60 : minutesPerDay;
  let wasRolledUp = false;
  for (let from = range.from; from < range.to; ) {
    const to = Math.min(range.to, (Math.floor(from / width) + 1) * width);
    const day = Math.floor(from / minutesPerDay) * minutesPerDay;
    const isFirst = from === day || from === range.from;
    if (isFirst) wasRolledUp = isRolledUp(store, environment.number, day);
    const points: Point[] = [];
    yield* sumUp(source, environment.number, { ...range, from, to }, (ordinal, _, found) => {
      for (const [t, cell] of found) points.push([t, series.get(ordinal)!, cell]);
    });
    if (!isFirst && !wasRolledUp && isRolledUp(store, environment.number, day)) throw rolledUp;
    yield* pointRows(points, writer);
    from = to;
  }
}

function isRolledUp({ measurements }: UsageTables, environment: number, day: number): boolean {
  const end = day + minutesPerDay;
  for (const _ of scanCells(measurements, measurementCodec, environment, bucketWidth.day, day, end)) return true;
  return false;
}

function* metricsInOrder(
  store: UsageTables,
  { environment, only, gauges }: MeasurementsTask,
  writer: RowWriter,
): Reading<ReadonlyMap<number, NamedMetric>> {
  const named = yield* pickSeries(store, environment.number, (name) =>
    name.length !== 2 && (only ?? name[0]) === name[0] ? name : undefined,
  );
  const sorted = [...named].sort(([, a], [, b]) => byName(a, b));
  const metrics = sorted.map(([ordinal, [metric, feature = null, variant = null]], place) => {
    const isGauge = gauges.has(metric);
    const kind = isGauge ? 'gauge' : 'counter';
    const cells = writer.encode(1, [environment.name, metric, feature, variant, kind]);
    return [ordinal, { place, cells, isGauge }] as const;
  });
  return new Map(metrics);
}

function* pointRows(points: Point[], writer: RowWriter): Rows {
  points.sort(([a, one], [b, other]) => a - b || one.place - other.place);
  for (const [t, metric, { sum, count, last, lastAt, min, max }] of points) {
    writer.add(writer.encode(0, [new Date(t * 1000).toISOString()]));
    writer.add(metric.cells);
    const value = metric.isGauge ? last : sum;
    writer.add(writer.encode(6, [value, sum, count, last, new Date(lastAt).toISOString(), min, max]));
    writer.end();
    if (writer.isFull) yield;
  }
}
