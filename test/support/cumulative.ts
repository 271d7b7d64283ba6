import { digestBytes } from '../../src/storage/commit/records.ts';
import { bucketWidth, encodeBucket } from '../../src/storage/lmdb/blocks.ts';
import { type CumulativeMessage, opensFeature, repeats, rowKind } from '../../src/storage/lmdb/cumulative.ts';
import { encodeDimensions } from '../../src/storage/lmdb/ledger.ts';

/** The interval between two messages of a sender, in ms. */
export const interval = 60_000;

/** Dimensions of the notes about the messages. */
export const subject = encodeDimensions({
  environment: 1,
  transport: 'http',
  route: 'unleash',
  outcome: 'noted',
  status: 202,
  code: null,
  userAgent: 'billing',
  instance: null,
});

/** Returns a message of an SDK for Node. Its bucket ends at `at` and contains the given rows. */
export function cumulativeMessage(
  at: number,
  rows: readonly number[],
  more: Partial<CumulativeMessage> = {},
): CumulativeMessage {
  return {
    identity: digestBytes(1, 2, 3, 4),
    at,
    sender: new Uint8Array(),
    repeats: repeats.whole,
    stop: at,
    length: interval,
    interval,
    subject,
    measuredAt: at,
    bucket: encodeBucket(bucketWidth.minute, Math.floor(at / 60_000)),
    rows,
    ...more,
  };
}

/** Returns one row of checks for each series. Each series is a variant of another flag. */
export function variantRows(totals: readonly (readonly [ref: number, checks: number])[]): number[] {
  return totals.flatMap(([ref, checks]) => [ref, rowKind.variant + opensFeature, checks]);
}
