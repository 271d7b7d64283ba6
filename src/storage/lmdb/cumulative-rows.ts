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
    if (isWhole || flagsOf(rows).every(hasItsChecks)) return [{ rows, note: 'repeated' }, message];
  }
  // The network, or another machine, can deliver two messages in reverse order.
  if (patience > 0 && -later >= patience && includes(known, own, repeated))
    return [{ rows: [], note: 'repeated' }, last];
  return [{ rows: message.rows, note: 'possible_repeat' }, message];
}

/** Visits the counts and values in rows: the checks of each variant, and what they leave of a flag's checks (see `withoutVariant`). */
export function eachAdded(
  rows: readonly number[],
  visit: { count(ref: number, checks: number): void; measurement(ref: number, value: number): void },
): void {
  for (const { yes, no, variants } of flagsOf(rows)) {
    for (const [ref, checks] of variants) if (checks > 0) visit.count(ref, checks);
    const { enabled, disabled } = withoutVariant(yes[1], no[1], servedBy(variants));
    if (enabled > 0) visit.count(yes[0], enabled);
    if (disabled > 0) visit.count(no[0], disabled);
  }
  for (let at = 0; at < rows.length; at += rowWidth)
    if (kindOf(rows[at + 1]!) >= rowKind.counter) visit.measurement(rows[at]!, rows[at + 2]!);
}

const kindOf = (kind: number) => kind % opensFlag;

type SeriesAmount = readonly [ref: number, amount: number];

interface Flag {
  yes: SeriesAmount;
  no: SeriesAmount;
  readonly variants: SeriesAmount[];
}

const noChecks: SeriesAmount = [0, 0];

function flagsOf(rows: readonly number[]): readonly Flag[] {
  const flags: Flag[] = [];
  for (let at = 0; at < rows.length; at += rowWidth) {
    const kind = rows[at + 1]!;
    if (kind >= opensFlag || flags.length === 0) flags.push({ yes: noChecks, no: noChecks, variants: [] });
    const flag = flags.at(-1)!;
    const amount = [rows[at]!, rows[at + 2]!] as const;
    if (kindOf(kind) === rowKind.yes) flag.yes = amount;
    else if (kindOf(kind) === rowKind.no) flag.no = amount;
    else if (kindOf(kind) === rowKind.variant) flag.variants.push(amount);
  }
  return flags;
}

const servedBy = (variants: readonly SeriesAmount[]) => variants.reduce((sum, [, checks]) => sum + checks, 0);

/** True if the flag has at least as many checks as its variants. */
function hasItsChecks({ yes, no, variants }: Flag): boolean {
  return servedBy(variants) <= yes[1] + no[1];
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
