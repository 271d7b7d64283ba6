import type { Counts, Measurement } from '../store/cells.ts';
import type { LedgerTally } from '../store/ledger.ts';

/** Adds what one packet says of a variant. */
export function addCounts(into: Counts, checks: number, used: number, viewed: number): void {
  into.checks += checks;
  into.used += used;
  into.viewed += viewed;
}

/** Adds what another cell of the same series holds. */
export function mergeCounts(into: Counts, { checks, used, viewed }: Counts): void {
  addCounts(into, checks, used, viewed);
}

/** Adds one reported value; of two with the same time, the one that came later is the last. */
export function addValue(into: Measurement, value: number, at: number): void {
  into.sum = clamp(into.sum + value);
  into.count += 1;
  if (at >= into.lastAt) {
    into.last = value;
    into.lastAt = at;
  }
  if (value < into.min) into.min = value;
  if (value > into.max) into.max = value;
}

/** Adds what another cell of the same series holds, `from` being the later one. */
export function mergeMeasurement(into: Measurement, from: Measurement): void {
  into.sum = clamp(into.sum + from.sum);
  into.count += from.count;
  if (from.lastAt >= into.lastAt) {
    into.last = from.last;
    into.lastAt = from.lastAt;
  }
  into.min = Math.min(into.min, from.min);
  into.max = Math.max(into.max, from.max);
}

/** Adds what another tally of the same row of the ledger holds. */
export function mergeTally(into: LedgerTally, from: Readonly<LedgerTally>): void {
  into.count += from.count;
  if (from.lastAt < into.lastAt) {
    into.example ??= from.example;
    return;
  }
  into.lastAt = from.lastAt;
  into.example = from.example ?? into.example;
}

/** A sum of finite values stays finite: it sticks at the largest double rather than become Infinity, which JSON cannot say. */
function clamp(sum: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sum));
}
