import type { OverviewShown } from '../../../contract/shapes/overview.ts';
import { type ChartSeries, toneOf } from '../../parts/chart/series.ts';

/** What the chart can show. Each has a tile. */
export const figures = ['checks', 'used', 'viewed', 'users', 'refused'] as const;
export type Figure = (typeof figures)[number];

export const names: Readonly<Record<Figure, string>> = {
  checks: 'Checks',
  used: 'Used',
  viewed: 'Viewed',
  users: 'Users',
  refused: 'Refused',
};

/** Whether a word of an address names a figure. */
export function isFigure(text: string | undefined): text is Figure {
  return (figures as readonly (string | undefined)[]).includes(text);
}

/** A figure of the range, and what it is compared with. */
export interface Compared {
  readonly value: number;
  /** The part of the range that is compared. */
  readonly against: number | undefined;
  /** As much time of the range before. */
  readonly before: number | undefined;
}

/** A figure of the range, beside the same of the range before. */
export function compared(overview: OverviewShown, figure: Figure): Compared {
  const { totals, before, users, usersBefore } = overview;
  if (figure === 'users')
    return { value: users.count, against: usersBefore?.against.count, before: usersBefore?.count };
  return { value: totals[figure], against: before?.against[figure], before: before?.[figure] };
}

/** What the chart draws of a figure. */
export interface Drawn {
  readonly title: string;
  readonly buckets: { readonly start: number; readonly width: number; readonly count: number };
  readonly series: readonly ChartSeries[];
  readonly unfinishedFrom: number | undefined;
}

const [hour, day] = [3600, 86_400];

/** The chart of a figure. */
export function drawnOf(overview: OverviewShown, figure: Figure): Drawn {
  const { start, width, values } = bucketsOf(overview, figure);
  const unit = width === day ? 'day' : width === hour ? 'hour' : 'minute';
  const at = Math.floor(Date.parse(overview.at) / 1000);
  const unfinished = Math.floor((at - start) / width);
  return {
    title: `${names[figure]} by ${figure === 'users' ? 'UTC day' : unit}`,
    buckets: { start, width, count: values.length },
    series: [{ label: names[figure], values, tone: toneOf(0) }],
    unfinishedFrom: unfinished >= 0 && unfinished < values.length ? unfinished : undefined,
  };
}

function bucketsOf({ start, width, series, hourly, days }: OverviewShown, figure: Figure) {
  if (figure === 'users') {
    const first = days[0]?.[0] ?? start;
    return { start: first, width: day, values: days.map(([, users]) => users) };
  }
  if (figure === 'refused') {
    const byHour = { start: hourly.start, width: hour, values: hourly.refused };
    return width === day ? byDay(byHour) : byHour;
  }
  return { start, width, values: series[figure] };
}

/** Hours added up to UTC days. */
function byDay({ start, values }: { start: number; values: readonly number[] }) {
  const first = Math.floor(start / day);
  const count = values.length === 0 ? 0 : Math.floor((start + (values.length - 1) * hour) / day) - first + 1;
  const days = new Array<number>(count).fill(0);
  for (const [index, value] of values.entries()) {
    const at = Math.floor((start + index * hour) / day) - first;
    days[at] = days[at]! + value;
  }
  return { start: first * day, width: day, values: days };
}
