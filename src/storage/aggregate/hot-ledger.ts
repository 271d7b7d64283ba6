import { surplusName } from '../../contract/names.ts';
import {
  decodeDimensions,
  deleteLedger,
  encodeDimensions,
  getLedgerTotal,
  type LedgerDimensions,
  type LedgerLine,
  type LedgerTotal,
  ledgerEntries,
  ledgerKey,
  ledgerLifeHours,
  putLedgerRow,
} from '../lmdb/ledger.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import { mergeLedgerTotal } from './merge.ts';

/** Maximum number of rows in memory: about 10 MB. */
const hotRowLimit = 10_000;

interface HotRow {
  readonly key: Buffer;
  readonly subject: string;
  readonly totals: LedgerTotal;
}

/**
 * A cache of the ledger rows in use. A transaction writes each row once, even if many lines change the row. Adding a
 * new row also deletes some expired rows of the application.
 */
export class HotLedger {
  readonly #store: UsageTables;
  readonly #rows = new Map<string, HotRow>();
  readonly #touched = new Set<HotRow>();
  readonly #isBounded: boolean;
  /** Row bounds by application and hour. */
  readonly #bounds = new Map<string, LedgerBound>();

  /**
   * @param isBounded true to limit the rows of an hour in this cache. Needed if several threads add lines, because each
   * thread by itself admits the maximum number of rows
   */
  constructor(store: UsageTables, isBounded = false) {
    this.#store = store;
    this.#isBounded = isBounded;
  }

  add(lines: readonly LedgerLine[]): void {
    for (const line of lines) {
      const row = this.#getRow(line);
      mergeLedgerTotal(row.totals, line);
      this.#touched.add(row);
    }
  }

  put(): void {
    for (const { key, subject, totals } of this.#touched) putLedgerRow(this.#store, key, subject, totals);
    this.#touched.clear();
    if (this.#rows.size > hotRowLimit) this.#clear();
  }

  forget(): void {
    this.#clear();
    this.#touched.clear();
  }

  #clear(): void {
    this.#rows.clear();
    this.#bounds.clear();
  }

  #getRow(line: LedgerLine): HotRow {
    const name = `${line.application} ${line.hour} ${line.subject}`;
    const known = this.#rows.get(name);
    if (known !== undefined) return known;
    const key = ledgerKey(line);
    const totals = getLedgerTotal(this.#store, key);
    const other = totals === undefined && this.#isBounded ? this.#otherThan(line) : undefined;
    const row = other === undefined ? this.#open(key, line, totals) : this.#getRow(other);
    this.#rows.set(name, row);
    return row;
  }

  /** Returns the line that replaces a line whose new row would exceed the bound; `undefined` if the row fits. */
  #otherThan(line: LedgerLine): LedgerLine | undefined {
    const dimensions = decodeDimensions(line.subject);
    const bound = this.#getBound(line);
    if (dimensions.userAgent !== surplusName && !bound.admits(dimensions))
      return { ...line, subject: encodeDimensions(ofOtherSenders(dimensions)) };
    bound.add(dimensions);
    return undefined;
  }

  /** The bound on the rows of an hour. It already includes all stored and added rows. */
  #getBound({ application, hour }: LedgerLine): LedgerBound {
    const name = `${application} ${hour}`;
    const known = this.#bounds.get(name);
    if (known !== undefined) return known;
    const bound = new LedgerBound();
    for (const { dimensions } of ledgerEntries(this.#store, application, hour, hour + 1)) bound.add(dimensions);
    this.#bounds.set(name, bound);
    return bound;
  }

  #open(key: Buffer, { application, hour, subject }: LedgerLine, stored: LedgerTotal | undefined): HotRow {
    if (stored === undefined) deleteLedger(this.#store, application, hour - ledgerLifeHours, 2);
    return { key, subject, totals: stored ?? { count: 0, lastAt: 0, example: null } };
  }
}

/** Maximum number of named senders per application and hour. Further senders count as `surplusName`. */
export const sendersPerHour = 50;
/** Maximum number of rows per application and hour. Beyond the maximum, new senders count as `surplusName`. */
const rowsPerHour = 1000;

/** Bounds the ledger rows of one application in one hour, because unauthenticated senders could add any number. */
export class LedgerBound {
  #rows = 0;
  readonly #senders = new Set<string>();

  add(dimensions: LedgerDimensions): void {
    this.#rows += 1;
    if (dimensions.userAgent !== surplusName) this.#senders.add(senderText(dimensions));
  }

  /** True if a new row of the sender fits. The row of `surplusName` always fits. */
  admits(dimensions: LedgerDimensions): boolean {
    if (this.#rows >= rowsPerHour) return false;
    return this.#senders.size < sendersPerHour || this.#senders.has(senderText(dimensions));
  }
}

export function ofOtherSenders(dimensions: LedgerDimensions): LedgerDimensions {
  return { ...dimensions, userAgent: surplusName, instance: null };
}

function senderText({ userAgent, instance }: LedgerDimensions): string {
  return JSON.stringify([userAgent, instance]);
}
