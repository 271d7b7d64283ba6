import { mergeCounts } from '../aggregate/merge.ts';
import {
  type BucketWidth,
  bucketWidth,
  type CellCodec,
  type Counts,
  cellsPerBlock,
  computePlace,
  countsCodec,
  decodeBlock,
  floorTo,
  measurementCodec,
  minutesPerDay,
  numbersOfEnvironments,
  type Places,
  type RawBlock,
  rawBlocks,
} from '../lmdb/blocks.ts';
import { decodeExposures } from '../lmdb/exposures.ts';
import { prefixedKey } from '../lmdb/key-prefix.ts';
import { ledgerKey, readLedgerLine } from '../lmdb/ledger.ts';
import { readRollUpState } from '../lmdb/roll-up-state.ts';
import { decodeSenders } from '../lmdb/senders.ts';
import { decodeSeen, seriesName } from '../lmdb/series.ts';
import { chunksPerSketch, chunkValueBytes, environmentOrdinal, readChunk } from '../lmdb/sketches.ts';
import { type Reading, readAt, type Snapshot } from '../lmdb/snapshot.ts';
import { totalBytes } from '../lmdb/totals.ts';
import type { UsageTable, UsageTables } from '../lmdb/usage.ts';

/** The first unused ordinal of each existing environment. */
type SeriesEnds = ReadonlyMap<number, number>;

type Rule = (
  key: Buffer,
  value: Buffer,
  all: { readonly store: UsageTables; readonly named: SeriesEnds; readonly at: Snapshot },
) => string | false;

const lifeBytes = 40;
const personBytes = 2 * lifeBytes + 12;

const rules: Readonly<Record<UsageTable, Rule>> = {
  counts: checkCells(countsCodec, ({ checks, used, viewed }) => checks >= 0 && used >= 0 && viewed >= 0),
  measurements: checkCells(measurementCodec, ({ count, min, max }) => count >= 0 && (count === 0 || min <= max)),
  carried: (key, value) => (key.length !== 4 || ![40, 48].includes(value.length) ? 'the record is malformed' : false),
  series(_, value) {
    const name: unknown = JSON.parse(value.toString());
    return !(Array.isArray(name) && name.length > 0 && name.length < 4) && 'the name is malformed';
  },
  seen(key, value, { named }) {
    if (value.length !== cellsPerBlock * 8) return 'the record is malformed';
    const minutes = decodeSeen(value);
    const first = key.readUInt32BE(4) * cellsPerBlock;
    for (let place = 0; place < cellsPerBlock; place += 1) {
      if (minutes[2 * place]! > minutes[2 * place + 1]!) return 'the last-seen time is before the first-seen time';
      if (minutes[2 * place + 1]! > 0 && !isNamed(named, key.readUInt32BE(0), first + place))
        return 'the series has no name';
    }
    return false;
  },
  sketches(key, value, { named }) {
    if (key.length !== 13 || key[12]! >= chunksPerSketch) return 'the key is malformed';
    const { coupons } = value[0]! > 1 || value.length > chunkValueBytes ? { coupons: undefined } : readChunk(value);
    if (value[0] !== 1 && !coupons?.every((coupon, index) => index === 0 || coupon > coupons[index - 1]!))
      return 'the record is malformed';
    if (value[0] === 1 && value.length !== chunkValueBytes) return 'the record is malformed';
    return !isNamed(named, key.readUInt32BE(0), key.readUInt32BE(8)) && 'the series has no name';
  },
  cumulative(key, value) {
    const length = [17, 23, 5][key[0]!];
    return (key.length !== length || value.length > 0 !== (key[0] !== 1)) && 'the record is malformed';
  },
  messages: (key, value) => (key.length !== 22 || value.length > 0) && 'the record is malformed',
  identities(key, value, { store, at }) {
    if (key.toString() === 'secret') return value.length !== 32 && 'the record is malformed';
    if (key.length !== 20 || value.length < personBytes) return 'the record is malformed';
    JSON.parse(value.subarray(personBytes).toString());
    return (
      !isListed(store.identityDays, value.readUInt32BE(2 * lifeBytes + 8), key, at) &&
      'the person is not in the list of the day'
    );
  },
  identityDays: (key) => key.length !== 24 && 'the record is malformed',
  exposures(key, value, { store, at }) {
    if (key.length === 4) return value.readUInt32LE(0) !== peopleIn(store, key, at) && 'the number of people is wrong';
    if (key.length !== 20) return 'the key is malformed';
    decodeExposures(value);
    return !isListed(store.exposureDays, value.readUInt32LE(0), key, at) && 'the person is not in the list of the day';
  },
  exposureDays: (key) => key.length !== 24 && 'the record is malformed',
  senders: (_, value) =>
    decodeSenders(value).some(({ first, last }) => first > last) && 'the last-seen time is before the first-seen time',
  totals: (key, value) =>
    (key.length === 4 ? value.length !== 4 : key.length !== 20 || value.length !== totalBytes) &&
    'the record is malformed',
  ledger: (key, value) => !ledgerKey(readLedgerLine(key, value)).equals(key) && 'the record is under another key',
};

/**
 * Checks every record and its references.
 * @param environments existing environments; data of other environments is about to be removed
 * @returns the first fault; `undefined` for sound records
 */
export function* checkUsageTable(
  store: UsageTables,
  table: UsageTable,
  environments: ReadonlySet<number>,
  at: Snapshot,
): Reading<string | undefined> {
  const all = { store, named: namedSeries(store, environments, at), at };
  for (const { key, value } of store[table].getRange(readAt(at))) {
    const fault = findFault(table, key, value, all);
    if (fault) return `it is damaged: ${table} ${key.toString('hex')}: ${fault}`;
    yield;
  }
  return undefined;
}

function findFault(table: UsageTable, key: Buffer, value: Buffer, all: Parameters<Rule>[2]): string | false {
  try {
    // The copies are needed, because a lookup in a rule overwrites the buffers that LMDB has returned.
    return rules[table](Buffer.from(key), Buffer.from(value), all);
  } catch (error) {
    return (error as Error).message;
  }
}

function namedSeries(store: UsageTables, environments: ReadonlySet<number>, at: Snapshot): SeriesEnds {
  const named = new Map<number, number>();
  for (const environment of environments) named.set(environment, 0);
  for (const key of store.series.getKeys(readAt(at))) {
    const environment = key.readUInt32BE(0);
    if (environments.has(environment)) named.set(environment, key.readUInt32BE(4) + 1);
  }
  return named;
}

function isNamed(named: SeriesEnds, environment: number, ordinal: number): boolean {
  const end = named.get(environment);
  return end === undefined || ordinal < end || ordinal === environmentOrdinal;
}

function checkCells<T>(codec: CellCodec<T>, isSound: (cell: T) => boolean): Rule {
  return (key, value, { named }) => {
    const width = [1, 60, minutesPerDay][key[4]!];
    if (key.length !== 13 || width === undefined || key.readUInt32BE(5) % width !== 0) return 'the key is malformed';
    const block = decodeBlock(value, codec);
    const present = block.filter((cell) => cell !== undefined);
    if (value.length !== 4 + present.length * codec.bytes) return 'the record is malformed';
    if (!present.every(isSound)) return 'a count is impossible';
    const last = key.readUInt32BE(9) * cellsPerBlock + block.findLastIndex((cell) => cell !== undefined);
    return !isNamed(named, key.readUInt32BE(0), last) && 'the series has no name';
  };
}

function isListed(days: UsageTables['identityDays'], day: number, key: Buffer, at: Snapshot): boolean {
  return days.get(prefixedKey(day, key), readAt(at)) !== undefined;
}

function peopleIn(store: UsageTables, environment: Buffer, at: Snapshot): number {
  const end = Buffer.from(environment);
  end.writeUInt32BE(end.readUInt32BE(0) + 1, 0);
  // The key of the environment itself is not a person.
  return store.exposures.getKeysCount({ start: environment, end, ...readAt(at) }) - 1;
}

type CountsStore = Pick<UsageTables, 'counts' | 'carried' | 'series'>;

/** The cells of one width, which add up to the cells of the next width. */
interface Level {
  readonly environment: number;
  readonly narrow: BucketWidth;
  readonly wide: BucketWidth;
  readonly length: number;
  /** The minute before which narrow cells can be missing. */
  readonly from: number;
  /** The place (see `computePlace`) before which narrow cells are rolled up. */
  readonly carried: number;
  readonly words: string;
}

const { minute, hour, day } = bucketWidth;
const minutesOfHour = { narrow: minute, wide: hour, length: 60, words: 'hour' };
const hoursOfDay = { narrow: hour, wide: day, length: minutesPerDay, words: 'day' };

/**
 * Checks that minutes add up to their hour, and hours to their day, if the narrower cells still exist (see
 * lmdb/roll-up-state.ts). Holds the cells of one hour or day in memory.
 * @returns the first fault; `undefined` if all sums are right
 */
export function* checkCarried(store: CountsStore, at: Snapshot): Reading<string | undefined> {
  for (const environment of numbersOfEnvironments(store.counts)) {
    const { minutes, hours, minutesFrom, hoursFrom } = readRollUpState(store.carried, environment, at);
    const toHours = { environment, ...minutesOfHour, from: minutesFrom, carried: minutes };
    const toDays = { environment, ...hoursOfDay, from: hoursFrom, carried: hours };
    const fault = (yield* checkLevel(store, toHours, at)) ?? (yield* checkLevel(store, toDays, at));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function* checkLevel(store: CountsStore, level: Level, at: Snapshot): Reading<string | undefined> {
  const { environment, narrow, wide, length, carried } = level;
  const read = (width: BucketWidth, places: Places) => rawBlocks(store.counts, environment, width, places, at);
  let from = Math.ceil(level.from / length) * length;
  for (;;) {
    const rest = { from: computePlace(from), to: Math.max(computePlace(from), carried) };
    const next = Math.min(findFirstMinute(read(narrow, rest)), findFirstMinute(read(wide, rest)));
    if (next === Number.POSITIVE_INFINITY) return undefined;
    from = floorTo(next, length);
    const end = from + length;
    const parts = sumBlocks(read(narrow, { from: computePlace(from), to: Math.min(computePlace(end), carried) }));
    const whole = sumBlocks(read(wide, { from: computePlace(from), to: computePlace(from + 1) }));
    const ordinal = unequal(parts, whole);
    if (ordinal !== undefined) return describe(store, level, ordinal, from);
    from = end;
    yield;
  }
}

function findFirstMinute(blocks: Generator<RawBlock>): number {
  for (const { minute } of blocks) return minute;
  return Number.POSITIVE_INFINITY;
}

function sumBlocks(blocks: Iterable<RawBlock>): ReadonlyMap<number, Counts> {
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

/** True if two sums are equal, or nearly equal: sums beyond 2⁵³ depend on the order of addition. */
function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

function describe(store: CountsStore, { environment, words }: Level, ordinal: number, minute: number): string {
  const name = seriesName(store, environment, ordinal)?.join('/') ?? `series ${ordinal}`;
  const time = new Date(minute * 60_000).toISOString();
  return `it is damaged: the counts of ${name} in environment ${environment} do not add up to the counts of the ${words} from ${time} on`;
}
