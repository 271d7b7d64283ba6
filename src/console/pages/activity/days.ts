import type { ActivityItem } from '../../../contract/shapes/activity.ts';

export type Run = readonly [ActivityItem, ...ActivityItem[]];

export interface Day {
  readonly title: string;
  readonly runs: readonly Run[];
}

/** Minimum number of successive items of one kind that are shown as one item. */
const folded = 5;

/**
 * Groups items by day, the latest first.
 * @param formatDay formats the day of a time in the reader's time zone
 * @param fold true to show successive items of one kind as one item
 */
export function groupByDay(
  items: readonly ActivityItem[],
  formatDay: (at: string) => string,
  fold: boolean,
): readonly Day[] {
  const days = new Map<string, ActivityItem[]>();
  for (const item of items) {
    const title = formatDay(item.at);
    const day = days.get(title);
    if (day === undefined) days.set(title, [item]);
    else day.push(item);
  }
  return Array.from(days, ([title, each]) => ({ title, runs: groupRuns(each, fold) }));
}

function groupRuns(items: readonly ActivityItem[], fold: boolean): readonly Run[] {
  const runs: [ActivityItem, ...ActivityItem[]][] = [];
  for (const item of items) {
    const last = runs.at(-1);
    if (fold && last?.[0].kind === item.kind && last[0].by?.name === item.by?.name) last.push(item);
    else runs.push([item]);
  }
  return runs.flatMap((run): readonly Run[] => (run.length < folded ? run.map((item) => [item] as const) : [run]));
}
