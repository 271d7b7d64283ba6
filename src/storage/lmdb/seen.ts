import { blocksPerEnvironment, cellsPerBlock } from './blocks.ts';
import { pairKey, prefixKey } from './key-prefix.ts';
import { readAt, type Snapshot } from './snapshot.ts';
import type { UsageTables } from './usage.ts';

/**
 * When each series was first and last seen. Cells do not show this, because they are rolled up and finally deleted.
 *
 * Key, big-endian: environment (u32), block (u32, a series' ordinal divided by the cells of a block). Value,
 * little-endian: for each series of the block its first and last minute (u32 each, since the epoch), 0 for never.
 */
export type SeenBlock = Uint32Array;

export const seenWidth = 2;

/** The minutes of a block (see `blockOf`), in a new array. */
export function readSeen(store: UsageTables, block: number): SeenBlock {
  const value = store.seen.get(seenKey(block));
  return value === undefined ? new Uint32Array(cellsPerBlock * seenWidth) : decodeSeen(value);
}

/** Puts a block. Call it in the transaction that puts its cells. */
export function putSeen(store: UsageTables, block: number, minutes: SeenBlock): void {
  const value = Buffer.allocUnsafe(minutes.length * 4);
  for (const [at, minute] of minutes.entries()) value.writeUInt32LE(minute, at * 4);
  store.seen.putSync(seenKey(block), value);
}

/** When a series was first and last seen, in minutes since the epoch. */
interface SeenSeries {
  readonly ordinal: number;
  readonly first: number;
  readonly last: number;
}

/** The series of an environment that were ever seen, in the order of their ordinals. */
export function* seenOf(store: UsageTables, environment: number, at?: Snapshot): Generator<SeenSeries> {
  const range = { start: prefixKey(environment), end: prefixKey(environment + 1), ...readAt(at) };
  for (const { key, value } of store.seen.getRange(range)) {
    const minutes = decodeSeen(value);
    for (let place = 0; place < cellsPerBlock; place += 1) {
      const last = minutes[place * seenWidth + 1]!;
      const ordinal = key.readUInt32BE(4) * cellsPerBlock + place;
      if (last > 0) yield { ordinal, first: minutes[place * seenWidth]!, last };
    }
  }
}

export function decodeSeen(value: Buffer): SeenBlock {
  return Uint32Array.from({ length: value.length / 4 }, (_, at) => value.readUInt32LE(at * 4));
}

function seenKey(block: number): Buffer {
  return pairKey(Math.floor(block / blocksPerEnvironment), block % blocksPerEnvironment);
}
