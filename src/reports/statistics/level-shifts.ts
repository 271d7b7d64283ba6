import { criticalValue } from './distributions.ts';

/** Daily figures, such as the shares of the variants of a feature. */
interface DailyLevels {
  /** Values of each figure by day; `NaN` for a day that is not compared. */
  readonly values: readonly Float64Array[];
  /** Variance of each figure, by day, that chance alone would cause. */
  readonly noise: readonly Float64Array[];
  /** Minimum distance between two levels. */
  readonly least: number;
}

/** A change of level that lasts. */
export interface LevelShift {
  /** The first day that differs from the days before. */
  readonly day: number;
  /** The mean of each figure before and after the shift. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** Number of days of the old level. Two weeks contain each weekday twice. */
const before = { least: 3, most: 14 };
/** Number of days for which the new level must last. */
const lasting = 2;
/** Maximum number of days from the last day of the old level to the last day of the new level. */
const maxSpan = 7;

/**
 * The probability of a false shift, for one figure and day. A thousand features with three variants have some 300 000
 * figures in 100 days.
 */
const alpha = 1e-6;

const critical = Array.from({ length: before.most + lasting }, (_, degrees) =>
  degrees === 0 ? Number.POSITIVE_INFINITY : criticalValue(alpha, degrees),
);

/**
 * Finds the days on which figures moved to another level. The days before and the days after are compared by Student's
 * t-test with a common variance. This variance is at least the variance that chance causes in counts. One day between
 * these periods is omitted, because it can have both levels. A shift depends only on earlier days and the next two
 * days, so later days do not change it.
 */
export function levelShifts(levels: DailyLevels): readonly LevelShift[] {
  // Most features have no shift, so this cheap check comes first.
  if (!levels.values.some((values) => computeSpread(values) >= levels.least)) return [];
  const days = comparedDays(levels);
  const shifts: LevelShift[] = [];
  for (let start = 0, at = before.least; at + lasting < days.length; at += 1) {
    if (at - start < before.least) continue;
    const shift = shiftAt(levels, days, Math.max(start, at - before.most), at);
    if (shift === undefined) continue;
    shifts.push(shift);
    start = at + 1;
  }
  return shifts;
}

/** Returns the distance between the smallest and the largest value; -Infinity without a value. */
function computeSpread(values: Float64Array): number {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return most - least;
}

function comparedDays({ values: [first] }: DailyLevels): readonly number[] {
  const days: number[] = [];
  first?.forEach((value, day) => {
    if (!Number.isNaN(value)) days.push(day);
  });
  return days;
}

interface LevelComparison {
  readonly from: number;
  readonly to: number;
  /** Standard deviation of a daily value. */
  readonly deviation: number;
  readonly isClear: boolean;
}

/** Returns the shift between the days from `start` to `at` and the days after `at`, if there is a shift. */
function shiftAt(levels: DailyLevels, days: readonly number[], start: number, at: number): LevelShift | undefined {
  if (days[at + lasting]! - days[at - 1]! > maxSpan) return undefined;
  const compared: LevelComparison[] = [];
  for (let figure = 0; figure < levels.values.length; figure += 1)
    compared.push(compare(levels, figure, days, start, at));
  if (!compared.some(({ isClear }) => isClear)) return undefined;
  const hasMoved = compared.some(({ isClear, from, to, deviation }, figure) => {
    if (!isClear) return false;
    const value = levels.values[figure]![days[at]!]!;
    return Math.abs(value - from) > Math.max(3 * deviation, 0.15 * Math.abs(to - from));
  });
  return {
    day: days[hasMoved ? at : at + 1]!,
    from: compared.map(({ from }) => from),
    to: compared.map(({ to }) => to),
  };
}

function compare(
  { values, noise, least }: DailyLevels,
  figure: number,
  days: readonly number[],
  start: number,
  at: number,
): LevelComparison {
  const value = (index: number) => values[figure]![days[index]!]!;
  const count = at - start;
  const all = at - start + lasting;
  let from = 0;
  let to = 0;
  let explained = 0;
  let squares = 0;
  for (let index = start; index < at; index += 1) from += value(index) / count;
  for (let index = at + 1; index <= at + lasting; index += 1) to += value(index) / lasting;
  const distance = Math.abs(to - from);
  // Most days have no shift, so this cheap check comes first.
  if (distance < least) return { from, to, deviation: 0, isClear: false };
  for (let index = start; index <= at + lasting; index += 1) {
    if (index === at) continue;
    squares += (value(index) - (index < at ? from : to)) ** 2;
    explained += noise[figure]![days[index]!]! / all;
  }
  const deviation = Math.sqrt(Math.max(squares / (all - 2), explained));
  const error = deviation * Math.sqrt(1 / count + 1 / lasting);
  const lasts = Math.abs(value(at + 1) - value(at + lasting)) <= distance / 2;
  return { from, to, deviation, isClear: lasts && distance >= critical[all - 2]! * error };
}
