import {
  type BucketWidth,
  bucketWidth,
  decodeBlock,
  floorTo,
  minutesPerDay,
  numbersOfEnvironments,
  type Places,
  placeOf,
  type RawBlock,
  rawBlocks,
} from '../lmdb/blocks.ts';
import { readCarried } from '../lmdb/carried.ts';
import { type Counts, countsCodec } from '../lmdb/cells.ts';
import { seriesName } from '../lmdb/series.ts';
import type { Reading, Snapshot } from '../lmdb/snapshot.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import { mergeCounts } from './merge.ts';

type CountsStore = Pick<UsageTables, 'counts' | 'carried' | 'series'>;

/** The cells of one width. Their sums are the cells of the next. */
interface Level {
  readonly environment: number;
  readonly narrow: BucketWidth;
  readonly wide: BucketWidth;
  readonly length: number;
  /** The minute before which narrow cells may be missing. */
  readonly from: number;
  /** The place up to which narrow cells are rolled up. */
  readonly carried: number;
  readonly words: string;
}

const { minute, hour, day } = bucketWidth;
const minutesOfHour = { narrow: minute, wide: hour, length: 60, words: 'hour' };
const hoursOfDay = { narrow: hour, wide: day, length: minutesPerDay, words: 'day' };

/**
 * Checks that the remaining narrow cells add up to the wide ones, as far as they are rolled up (see lmdb/carried.ts). Holds the cells of
 * one wide bucket in memory.
 * @returns the first fault; `undefined` if there is none
 */
export function* checkCarried(store: CountsStore, at: Snapshot): Reading<string | undefined> {
  for (const environment of numbersOfEnvironments(store.counts)) {
    const { minutes, hours, minutesFrom, hoursFrom } = readCarried(store.carried, environment, at);
    const toHours = { environment, ...minutesOfHour, from: minutesFrom, carried: minutes };
    const toDays = { environment, ...hoursOfDay, from: hoursFrom, carried: hours };
    const fault = (yield* checkLevel(store, toHours, at)) ?? (yield* checkLevel(store, toDays, at));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function* checkLevel(store: CountsStore, level: Level, at: Snapshot): Reading<string | undefined> {
  const { environment, narrow, wide, length, carried } = level;
  const read = (width: BucketWidth, places: Places) =>
    rawBlocks(store.counts, environment, width, places, at);
  let from = Math.ceil(level.from / length) * length;
  for (;;) {
    const rest = { from: placeOf(from), to: Math.max(placeOf(from), carried) };
    const next = Math.min(firstOf(read(narrow, rest)), firstOf(read(wide, rest)));
    if (next === Number.POSITIVE_INFINITY) return undefined;
    from = floorTo(next, length);
    const end = from + length;
    const parts = sumsOf(read(narrow, { from: placeOf(from), to: Math.min(placeOf(end), carried) }));
    const whole = sumsOf(read(wide, { from: placeOf(from), to: placeOf(from + 1) }));
    const ordinal = unequal(parts, whole);
    if (ordinal !== undefined) return describe(store, level, ordinal, from);
    from = end;
    yield;
  }
}

function firstOf(blocks: Generator<RawBlock>): number {
  for (const { minute } of blocks) return minute;
  return Number.POSITIVE_INFINITY;
}

function sumsOf(blocks: Iterable<RawBlock>): ReadonlyMap<number, Counts> {
  const sums = new Map<number, Counts>();
  for (const { first, value } of blocks) {
    for (const [place, cell] of decodeBlock(value, countsCodec).entries()) {
      if (cell === undefined) continue;
      const sum = sums.get(first + place);
      if (sum === undefined) sums.set(first + place, cell);
      else mergeCounts(sum, cell);
    }
  }
  return sums;
}

function unequal(parts: ReadonlyMap<number, Counts>, whole: ReadonlyMap<number, Counts>): number | undefined {
  const nothing = countsCodec.empty();
  for (const ordinal of new Set([...parts.keys(), ...whole.keys()])) {
    const part = parts.get(ordinal) ?? nothing;
    const all = whole.get(ordinal) ?? nothing;
    const same = near(part.checks, all.checks) && near(part.used, all.used) && near(part.viewed, all.viewed);
    if (!same) return ordinal;
  }
  return undefined;
}

/** Sums beyond 2⁵³ depend on the order of addition. */
function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

function describe(
  store: CountsStore,
  { environment, words }: Level,
  ordinal: number,
  minute: number,
): string {
  const name = seriesName(store, environment, ordinal)?.join('/') ?? `series ${ordinal}`;
  const time = new Date(minute * 60_000).toISOString();
  return `it is damaged: the counts of ${name} in environment ${environment} do not add up to those of the ${words} from ${time} on`;
}
