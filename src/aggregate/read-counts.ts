import { type BucketWidth, bucketWidth, scanCells } from '../store/blocks.ts';
import { countsCodec } from '../store/cells.ts';
import type { Reading, Snapshot } from '../store/snapshot.ts';
import type { UsageStore } from '../store/usage.ts';

/** Minutes since the epoch: `from` included, `to` not. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Receives what a series counted in the bucket that starts at a minute. */
export type TakeCounts = (
  ordinal: number,
  minute: number,
  checks: number,
  used: number,
  viewed: number,
) => void;

const widths: readonly BucketWidth[] = Object.values(bucketWidth);

/** Cells between two pauses. */
const stride = 4096;

/** Reads what an environment's series counted in a span. */
export function* readCounts(
  store: UsageStore,
  environment: number,
  { from, to }: Span,
  at: Snapshot,
  take: TakeCounts,
): Reading<void> {
  let left = stride;
  for (const width of widths) {
    for (const cell of scanCells(store.counts, countsCodec, environment, width, from, to, at)) {
      const { checks, used, viewed } = cell.value;
      take(cell.ordinal, cell.minute, checks, used, viewed);
      left -= 1;
      if (left > 0) continue;
      left = stride;
      yield;
    }
  }
}
