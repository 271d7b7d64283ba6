import { ledgerEntries } from '../storage/lmdb/ledger.ts';
import { type Reading, readEach, type Snapshot } from '../storage/lmdb/snapshot.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import type { Span } from './overview-range.ts';

/** What came in by hour: `accepted[0]` is of the hour `from` (hours since the epoch). */
export interface HourlyLedger {
  readonly from: number;
  readonly accepted: number[];
  readonly refused: number[];
}

export interface Received {
  accepted: number;
  refused: number;
}

/** Adds up what an application's ledger says of one environment, hour by hour. @param hours since the epoch */
export function* hourlyLedger(
  store: UsageTables,
  application: number,
  environment: number,
  { from, to }: Span,
  at: Snapshot,
): Reading<HourlyLedger> {
  const zeros = () => new Array<number>(to - from).fill(0);
  const hourly = { from, accepted: zeros(), refused: zeros() };
  yield* readEach(ledgerEntries(store, application, from, to, at), ({ hour, subject, count }) => {
    if (subject.environment !== environment || subject.outcome === 'noted') return;
    hourly[subject.outcome][hour - from]! += count;
  });
  return hourly;
}

/** What came in the hours `from` to `to` (not included), as far as they were read. */
export function receivedIn({ from: start, accepted, refused }: HourlyLedger, { from, to }: Span): Received {
  const sum = (hours: readonly number[]) =>
    hours.slice(Math.max(0, from - start), Math.max(0, to - start)).reduce((total, each) => total + each, 0);
  return { accepted: sum(accepted), refused: sum(refused) };
}
