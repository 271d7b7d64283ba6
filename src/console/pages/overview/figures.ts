import type { Overview } from '../../../contract/shapes/overview.ts';
import { type Buckets, bucketAt, type ChartSeries, getSeriesTone } from '../../components/chart/series.ts';
import { format } from '../../text/format.ts';

export const figures = ['checks', 'used', 'viewed', 'users', 'refused'] as const;
export type Figure = (typeof figures)[number];

export const names: Readonly<Record<Figure, string>> = {
  checks: 'Checks',
  used: 'Used',
  viewed: 'Viewed',
  users: 'People',
  refused: 'Refused',
};

/** Returns the label of a column of users, with the days on which they are counted. */
export function usersLabel({ users }: Overview): string {
  return `${names.users} (${format.days(users.from, users.to)})`;
}

/** True if the first UTC day whose users are counted has begun. A reader east of UTC can be a day ahead of UTC. */
export function areUsersCounted({ at, users }: Overview): boolean {
  return users.from <= at.slice(0, 10);
}

export function isFigure(text: string | undefined): text is Figure {
  return (figures as readonly (string | undefined)[]).includes(text);
}

/** True if a figure is missing because no sender reports it. */
export function isUnknown({ checksOnly, totals }: Overview, figure: Figure): boolean {
  return (figure === 'used' || figure === 'viewed') && checksOnly.length > 0 && totals[figure] === 0;
}

interface ComparedFigure {
  readonly value: number;
  readonly against: number | undefined;
  readonly before: number | undefined;
}

export function compared(overview: Overview, figure: Figure): ComparedFigure {
  const { totals, before, users, usersBefore } = overview;
  if (figure === 'users')
    return { value: users.count, against: usersBefore?.against.count, before: usersBefore?.count };
  return { value: totals[figure], against: before?.against[figure], before: before?.[figure] };
}

interface FigureChart {
  readonly title: string;
  readonly buckets: Buckets;
  readonly series: readonly ChartSeries[];
  readonly unfinishedFrom: number | undefined;
}

const hour = 3600;
const day = 86_400;

/** Creates the chart of a figure in the range. @param past label of the earlier range for comparison */
export function createChart(overview: Overview, figure: Figure, past: string): FigureChart {
  const { values, ...shape } = selectBuckets(overview, figure);
  const buckets = { ...shape, count: values.length };
  const before = figure === 'users' || figure === 'refused' ? undefined : overview.before?.series?.[figure];
  return {
    title: names[figure],
    buckets,
    series: [
      { label: names[figure], values, tone: getSeriesTone(0) },
      ...(before === undefined ? [] : [{ label: past, values: before, tone: 'past', apart: true } as const]),
    ],
    unfinishedFrom: bucketAt(buckets, Date.parse(overview.at) / 1000),
  };
}

function selectBuckets({ start, width, starts, series, hourly, days }: Overview, figure: Figure) {
  if (figure === 'users') {
    const first = days[0]?.[0] ?? start;
    return { start: first, width: day, utc: true, values: days.map(([, users]) => users) };
  }
  if (figure === 'refused') {
    const byHour = { start: hourly.start, width: hour, values: hourly.refused };
    return width === day ? byDay(byHour, starts) : byHour;
  }
  return { start, width, starts, values: series[figure] };
}

/** @param starts starts of the days; UTC days by default */
function byDay({ start, values }: { start: number; values: readonly number[] }, starts?: readonly number[]) {
  const end = start + values.length * hour;
  const first = starts?.[0] ?? Math.floor(start / day) * day;
  const buckets = { start: first, width: day, starts, count: starts?.length ?? Math.ceil((end - first) / day) };
  const sums = new Array<number>(buckets.count).fill(0);
  for (const [index, value] of values.entries()) {
    const at = bucketAt(buckets, start + index * hour);
    if (at !== undefined) sums[at]! += value;
  }
  return { start: first, width: day, starts, values: sums };
}

export interface Change {
  readonly direction: 'up' | 'down' | 'same';
  /** Size of the change: `3%`, or `×12` if the figure grew at least tenfold. */
  readonly size: string;
}

/** @returns `undefined` without a figure to compare with */
export function computeChange(now: number, before: number | undefined): Change | undefined {
  if (before === undefined || before === 0) return undefined;
  const ratio = now / before;
  if (Math.abs(ratio - 1) < 0.0005) return { direction: 'same', size: format.percent(0) };
  const size = ratio >= 10 ? `×${format.compact(Math.round(ratio))}` : format.percent(Math.abs(ratio - 1));
  return { direction: ratio > 1 ? 'up' : 'down', size };
}
