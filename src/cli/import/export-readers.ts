import { originalText } from '../../contract/escaping.ts';
import { isName } from '../../contract/names.ts';
import { fieldsOf, jsonOf } from '../send.ts';
import { cellsOf, numberOf, TimeReader, timeOf, wholeOf } from './cells.ts';
import { FileTotal, type RowReader, type RowSink, Table, type Values, wrong } from './rows.ts';

const usageColumns = ['time', 'feature', 'variant', 'checks'] as const;
const valueColumns = ['sum', 'count', 'last', 'lastAt', 'min', 'max'] as const;

/** Reads an export of usage or of measurements as CSV. @throws {Failure} if the header lacks a column */
export function csvReader(path: string, header: string): RowReader {
  const names = cellsOf(header) ?? [];
  const hasMetrics = names.includes('metric') && !names.includes('checks');
  return hasMetrics ? measurementsReader(path, header) : usageReader(path, header);
}

function usageReader(path: string, header: string): RowReader {
  const table = new Table(path, header, usageColumns);
  const [time, feature, variant, checks] = usageColumns.map((name) => table.column(name)) as Columns;
  const [environment, used, viewed] = ['environment', 'used', 'viewed'].map((name) =>
    table.column(name),
  ) as Columns;
  const times = new TimeReader();
  const total = new FileTotal();
  return {
    read(line, sink) {
      const cells = table.cells(line);
      if (typeof cells === 'string') return cells;
      return addCount(
        environment < 0 ? undefined : originalText(cells[environment]!),
        times.read(cells[time]!),
        originalText(cells[feature]!),
        originalText(cells[variant]!),
        [wholeOf(cells[checks]!), wholeOf(cells[used] ?? '0'), wholeOf(cells[viewed] ?? '0')],
        total,
        sink,
      );
    },
  };
}

type Columns = [number, number, number, number];

function measurementsReader(path: string, header: string): RowReader {
  const table = new Table(path, header, ['time', 'metric', ...valueColumns]);
  const columns = valueColumns.map((name) => table.column(name));
  const time = table.column('time');
  const environment = table.column('environment');
  const name = ['metric', 'feature', 'variant'].map((each) => table.column(each));
  const times = new TimeReader();
  return {
    read(line, sink) {
      const cells = table.cells(line);
      if (typeof cells === 'string') return cells;
      const [sum, count, last, lastAt, min, max] = columns.map((column) => cells[column]!) as Texts;
      return addMeasurement(
        environment < 0 ? undefined : originalText(cells[environment]!),
        times.read(cells[time]!),
        name.map((column) => originalText(cells[column] ?? '')),
        [numberOf(sum), wholeOf(count), numberOf(last), timeOf(lastAt), numberOf(min), numberOf(max)],
        sink,
      );
    },
  };
}

type Texts = [string, string, string, string, string, string];

/** Reads an export of usage or of measurements as NDJSON. */
export function ndjsonReader(): RowReader {
  const times = new TimeReader();
  const total = new FileTotal();
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const number = (value: unknown) => (typeof value === 'number' ? value : Number.NaN);
  const whole = (value: unknown) => (Number.isSafeInteger(value) ? Math.max(-1, value as number) : -1);
  return {
    read(line, sink) {
      const parsed = jsonOf(line);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return wrong.json;
      const row = fieldsOf(parsed);
      const environment = typeof row['environment'] === 'string' ? row['environment'] : undefined;
      const time = times.read(text(row['time']));
      const feature = text(row['feature']);
      const variant = text(row['variant']);
      if ('metric' in row && !('checks' in row)) {
        const [sum, last, min, max] = ['sum', 'last', 'min', 'max'].map((name) =>
          number(row[name]),
        ) as Columns;
        const values = [sum, whole(row['count']), last, timeOf(text(row['lastAt'])), min, max] as const;
        return addMeasurement(environment, time, [text(row['metric']), feature, variant], values, sink);
      }
      const { checks, used = 0, viewed = 0 } = row;
      const counts = [whole(checks), whole(used), whole(viewed)] as const;
      return addCount(environment, time, feature, variant, counts, total, sink);
    },
  };
}

function addCount(
  environment: string | undefined,
  time: number,
  feature: string,
  variant: string,
  [checks, used, viewed]: readonly [number, number, number],
  total: FileTotal,
  sink: RowSink,
): string | undefined {
  if (Number.isNaN(time)) return wrong.time;
  if (!isName(feature)) return wrong.feature;
  if (!isName(variant)) return wrong.variant;
  if (checks < 0 || used < 0 || viewed < 0) return wrong.count;
  if (!total.add(checks + used + viewed)) return wrong.total;
  sink.count(environment, time, feature, variant, checks, used, viewed);
  return undefined;
}

/** @param name feature and variant are empty for a metric of the application */
function addMeasurement(
  environment: string | undefined,
  time: number,
  [metric = '', feature = '', variant = '']: readonly string[],
  values: Values,
  sink: RowSink,
): string | undefined {
  const [, count, last, lastAt, min, max] = values;
  const ofFeature = feature !== '' || variant !== '';
  if (Number.isNaN(time)) return wrong.time;
  if (!isName(metric)) return wrong.metric;
  if (ofFeature && !isName(feature)) return wrong.feature;
  if (ofFeature && !isName(variant)) return wrong.variant;
  if (count < 1) return wrong.values;
  if (Number.isNaN(lastAt)) return wrong.lastAt;
  if (!values.every(Number.isFinite)) return wrong.number;
  if (last < min || last > max) return wrong.range;
  sink.measurement(environment, time, ofFeature ? [metric, feature, variant] : [metric], values);
  return undefined;
}
