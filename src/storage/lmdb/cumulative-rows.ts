import type { LedgerNote } from '../../contract/notes.ts';
import { withoutVariant } from '../../contract/unleash-checks.ts';

/** Parts of an unconfirmed message that an SDK sends again. */
export const repeats = {
  /** Nothing: each message counts in full, whatever it resembles. */
  never: 0,
  /** Everything, with more added. */
  whole: 1,
  /** `yes` and `no` with more added, but no variants. */
  withoutVariants: 2,
  /** Counters with more added, but under another start. Nothing identifies such a message, so it counts in full. */
  values: 3,
} as const;
export type Repeats = (typeof repeats)[keyof typeof repeats];

/** The kinds of rows in a message. */
export const rowKind = { yes: 0, no: 1, variant: 2, counter: 3, gauge: 4 } as const;
/** Added to the kind of the first row of a flag. */
export const opensFlag = 8;

/** Numbers per row. */
export const rowWidth = 3;

/** A message as it is remembered. */
export interface Known {
  readonly at: number;
  readonly repeats: number;
  readonly stop: number;
  /** In ms; 0 if unknown. */
  readonly interval: number;
  readonly rows: readonly number[];
}

/** Rows that a message adds to the earlier ones. */
export interface Addition {
  /** `ref, kind, amount` */
  readonly rows: readonly number[];
  readonly note?: LedgerNote;
}

/** Share of the interval that must be between two messages of one process. Timers and clocks are not exact. */
const shortestInterval = 0.9;

/**
 * Compares a message with the previous message of its identity. In doubt, a message counts.
 * @returns what it adds, and the message to compare the next one with
 */
export function compare(message: Known, last: Known): [Addition, Known] {
  const own = totalsOf(message.rows);
  const known = totalsOf(last.rows);
  const { yes, no, variant, counter } = rowKind;
  if (message.repeats === repeats.values) {
    const resembles = includes(own, known, [counter]);
    return [{ rows: message.rows, ...(resembles && { note: 'possible_repeat' }) }, message];
  }
  const isWhole = message.repeats === repeats.whole;
  // Of SDKs that add to a bucket, only the one for Go can send it unchanged, through a proxy. Its times have nanoseconds, so no other
  // process has the same. Those of the SDK for Node have milliseconds, which processes that start together share.
  if (!isWhole && message.stop === last.stop && isSame(own, known))
    return [{ rows: [], note: 'repeated' }, last];
  const repeated = isWhole ? [yes, no, variant, counter] : [yes, no];
  const later = message.stop - last.stop;
  const patience = shortestInterval * message.interval;
  if (patience > 0 && later >= patience && includes(own, known, repeated)) {
    const subtracted = !isWhole && includes(own, known, [counter]) ? [...repeated, counter] : repeated;
    const rows = difference(message.rows, own, known, subtracted);
    if (isWhole || haveTheirChecks(rows)) return [{ rows, note: 'repeated' }, message];
  }
  // The network, or another machine, can deliver two messages in reverse order.
  if (patience > 0 && -later >= patience && includes(known, own, repeated))
    return [{ rows: [], note: 'repeated' }, last];
  return [{ rows: message.rows, note: 'possible_repeat' }, message];
}

/**
 * Visits the counts and values in rows: the checks of each variant, and what they leave of a flag's checks (see `withoutVariant`).
 * Allocates nothing, because it runs for every message.
 */
export function eachAdded(
  rows: readonly number[],
  visit: { count(ref: number, checks: number): void; measurement(ref: number, value: number): void },
): void {
  for (let from = 0, end = 0; from < rows.length; from = end) {
    end = endOfFlag(rows, from);
    addFlag(rows, from, end, visit);
  }
  for (let at = 0; at < rows.length; at += rowWidth)
    if (kindOf(rows[at + 1]!) >= rowKind.counter) visit.measurement(rows[at]!, rows[at + 2]!);
}

const kindOf = (kind: number) => kind % opensFlag;

/** The end of the rows of a flag, the first of which is at `from`. */
function endOfFlag(rows: readonly number[], from: number): number {
  let end = from + rowWidth;
  while (end < rows.length && rows[end + 1]! < opensFlag) end += rowWidth;
  return end;
}

function addFlag(
  rows: readonly number[],
  from: number,
  end: number,
  visit: { count(ref: number, checks: number): void },
): void {
  const yes = lastOf(rows, from, end, rowKind.yes);
  const no = lastOf(rows, from, end, rowKind.no);
  let served = 0;
  for (let at = from; at < end; at += rowWidth) {
    if (kindOf(rows[at + 1]!) !== rowKind.variant) continue;
    const checks = rows[at + 2]!;
    served += checks;
    if (checks > 0) visit.count(rows[at]!, checks);
  }
  const { enabled, disabled } = withoutVariant(amountAt(rows, yes), amountAt(rows, no), served);
  if (enabled > 0) visit.count(rows[yes]!, enabled);
  if (disabled > 0) visit.count(rows[no]!, disabled);
}

/** The position of the last row of a kind, or -1. */
function lastOf(rows: readonly number[], from: number, end: number, kind: number): number {
  let last = -1;
  for (let at = from; at < end; at += rowWidth) if (kindOf(rows[at + 1]!) === kind) last = at;
  return last;
}

const amountAt = (rows: readonly number[], at: number) => (at < 0 ? 0 : rows[at + 2]!);

/** True if each flag has at least as many checks as its variants. */
function haveTheirChecks(rows: readonly number[]): boolean {
  for (let from = 0, end = 0; from < rows.length; from = end) {
    end = endOfFlag(rows, from);
    let served = 0;
    for (let at = from; at < end; at += rowWidth)
      if (kindOf(rows[at + 1]!) === rowKind.variant) served += rows[at + 2]!;
    const yes = amountAt(rows, lastOf(rows, from, end, rowKind.yes));
    if (served > yes + amountAt(rows, lastOf(rows, from, end, rowKind.no))) return false;
  }
  return true;
}

/** Amounts by kind and series. Several names over a limit have the same series. */
type Totals = readonly ReadonlyMap<number, number>[];

function totalsOf(rows: readonly number[]): Totals {
  const totals = Object.values(rowKind).map(() => new Map<number, number>());
  for (let at = 0; at < rows.length; at += rowWidth) {
    const ref = rows[at]!;
    const own = totals[kindOf(rows[at + 1]!)]!;
    own.set(ref, (own.get(ref) ?? 0) + rows[at + 2]!);
  }
  return totals;
}

/** True if no amount of these kinds is greater in the other totals. */
function includes(totals: Totals, other: Totals, kinds: readonly number[]): boolean {
  return kinds.every((kind) => {
    for (const [ref, amount] of other[kind]!) if (amount > (totals[kind]!.get(ref) ?? 0)) return false;
    return true;
  });
}

function isSame(totals: Totals, other: Totals): boolean {
  return totals.every((own, kind) => {
    if (own.size !== other[kind]!.size) return false;
    for (const [ref, amount] of own) if (amount !== other[kind]!.get(ref)) return false;
    return true;
  });
}

/** The rows of a message, reduced by the amounts of these kinds in the previous message. */
function difference(rows: readonly number[], own: Totals, last: Totals, kinds: readonly number[]): number[] {
  const found: number[] = [];
  const visited = new Set<string>();
  for (let at = 0; at < rows.length; at += rowWidth) {
    const ref = rows[at]!;
    const kind = rows[at + 1]!;
    const amount = rows[at + 2]!;
    const name = `${ref} ${kindOf(kind)}`;
    const more = (own[kindOf(kind)]!.get(ref) ?? 0) - (last[kindOf(kind)]!.get(ref) ?? 0);
    if (!kinds.includes(kindOf(kind))) found.push(ref, kind, amount);
    else found.push(ref, kind, visited.has(name) ? 0 : more);
    visited.add(name);
  }
  return found;
}
