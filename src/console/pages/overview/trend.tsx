import type { Overview } from '../../../contract/shapes/overview.ts';
import { daySeconds, perBucket } from '../../components/chart/announcement.ts';
import { Sparkline } from '../../components/chart/sparkline.tsx';
import { format } from '../../text/format.ts';
import { computeTrend } from './figures.ts';

interface TrendLine {
  readonly values: readonly number[];
  readonly unfinished: boolean;
  readonly text: string;
}

/**
 * Computes the trend of a flag. For two days or more, each point is the sum of the preceding 24 hours, which removes
 * the daily cycle. For a shorter range, the points are the counts themselves.
 */
export function trendLine(
  spark: readonly number[],
  { spark: { start, width }, at, to }: Pick<Overview, 'spark' | 'at' | 'to'>,
): TrendLine {
  const end = start + spark.length * width;
  const unfinished = Math.min(Date.parse(at), Date.parse(to)) / 1000 < end;
  const window = daySeconds / width;
  if (width >= daySeconds || !Number.isInteger(window) || spark.length < 2 * window)
    return { values: spark, unfinished, text: countsText(width) };
  const complete = unfinished ? spark.slice(0, -1) : spark;
  let sum = 0;
  const sums = complete.map((value, index) => {
    sum += value - (complete[index - window] ?? 0);
    return sum;
  });
  return {
    values: sums.slice(window - 1),
    unfinished: false,
    text: `Checks: sum of the preceding 24 hours, every ${format.duration(width * 1000)}`,
  };
}

/** Describes points that are counts. Hourly counts have a daily cycle, which the text mentions. */
function countsText(width: number): string {
  const cycle = width >= 3600 && width < daySeconds ? ', with the daily cycle' : '';
  return `Checks ${perBucket(width)}${cycle}`;
}

/** The sparkline of a flag. Its tooltip describes the points. */
export function Trend({ line: { values, unfinished, text } }: { readonly line: TrendLine }) {
  const trend = computeTrend(values, unfinished);
  const words =
    trend === undefined
      ? 'no comparison'
      : `${trend < 0 ? 'down' : 'up'} ${format.percent(Math.abs(trend))} from the first half to the second`;
  return (
    <span title={`${text}: ${words}`}>
      <Sparkline values={values} unfinished={unfinished} />
      <span class="hidden">{words}</span>
    </span>
  );
}
