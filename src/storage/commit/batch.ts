import { mergeLedgerTotal } from '../aggregate/merge.ts';
import { type CumulativeMessage, rowWidth } from '../lmdb/cumulative.ts';
import { hashedId, type InstanceUse, type Mint } from '../lmdb/instances.ts';
import type { LedgerExample, LedgerLine, LedgerTotal } from '../lmdb/ledger.ts';
import type { SenderSight } from '../lmdb/senders.ts';
import type { NewSeries } from '../lmdb/series.ts';
import type { Total } from '../lmdb/totals.ts';
import type { Envelope, Forgotten, UnresolvedUse } from './envelope.ts';
import { RecordArrays, recordBytes } from './record-buffer.ts';
import {
  CountRecords,
  ExposureRecords,
  type Extent,
  MeasurementRecords,
  MessageRecords,
  UserRecords,
} from './records.ts';

/** Estimated bytes of an entry with names: a new series, a sender, or a row of the ledger. */
const namedBytes = 300;
/** Estimated bytes of a row of a cumulative message. */
const cumulativeRowBytes = 24;

/**
 * Names that are written only once, although later batches refer to them. If a batch fails, its names go into the next
 * batch.
 */
interface Unkept {
  readonly series: readonly NewSeries[];
  readonly senders: readonly SenderSight[];
}

export const nothingUnkept: Unkept = { series: [], senders: [] };

/**
 * The packets of one commit. The service's thread adds packets until it seals the batch, which closes the batch and
 * passes it on. All senders of the packets wait for one promise.
 */
export class Batch {
  packets = 0;
  readonly counts: CountRecords;
  readonly measurements: MeasurementRecords;
  readonly users: UserRecords;
  readonly exposures: ExposureRecords;
  readonly messages: MessageRecords;
  readonly series: NewSeries[] = [];
  /** Senders first seen in this batch: see senders.ts. */
  readonly senders: SenderSight[] = [];
  /** Running totals, of which only the increase counts: see lmdb/totals.ts. Counting a total twice changes nothing. */
  readonly totals: Total[] = [];
  /** Buckets that an SDK can send again: see cumulative.ts. */
  readonly cumulative: CumulativeMessage[] = [];
  /** Instance ids that were issued and used, and identities to be forgotten: see instances.ts. */
  readonly mints: Mint[] = [];
  readonly uses: InstanceUse[] = [];
  readonly forgotten: Forgotten[] = [];
  /** Exposures reported with instance ids that are unknown on this machine. */
  readonly unresolved: UnresolvedUse[] = [];
  readonly ledger = new LedgerTotals();
  /** Number of names that were counted under the surplus name, because they exceed a limit. */
  folded = 0;
  dropped = 0;
  /** Resolves when the batch is on disk. Rejects if no part of the batch was stored. */
  readonly durable: Promise<void>;
  readonly settle: { kept: () => void; refused: (reason: unknown) => void };
  readonly #number: number;
  #cumulativeRows = 0;

  constructor(arrays = new RecordArrays()) {
    const number = arrays.nextBatch();
    this.#number = number;
    this.counts = new CountRecords(arrays, number);
    this.measurements = new MeasurementRecords(arrays, number);
    this.users = new UserRecords(arrays, number);
    this.exposures = new ExposureRecords(arrays, number);
    this.messages = new MessageRecords(arrays, number);
    let settle: Batch['settle'] | undefined;
    this.durable = new Promise((kept, refused) => {
      settle = { kept, refused };
    });
    this.durable.catch(() => {}); // The rejection may have no listener; that is expected.
    this.settle = settle!;
  }

  /** The current number of records of each kind. Two extents delimit the records of a message. */
  get extent(): Extent {
    const { counts, measurements, users, exposures, unresolved } = this;
    return [counts.records, measurements.records, users.records, exposures.records, unresolved.length];
  }

  addCumulative(message: CumulativeMessage): void {
    this.cumulative.push(message);
    this.#cumulativeRows += message.rows.length / rowWidth;
  }

  get bytes(): number {
    const cells = this.counts.records + this.measurements.records;
    const records = cells + this.users.records + this.exposures.records + this.messages.records;
    return (
      records * recordBytes +
      this.#cumulativeRows * cumulativeRowBytes +
      (this.series.length +
        this.senders.length +
        this.totals.length +
        this.cumulative.length +
        this.unresolved.length +
        this.ledger.size) *
        namedBytes
    );
  }

  /**
   * @param earlier entries of failed batches to which later batches refer
   * @param refused ledger counts of messages in no batch, such as refused packets
   */
  seal(earlier: Unkept = nothingUnkept, refused: readonly LedgerLine[] = []): Envelope {
    const own = this.ledger.lines();
    return {
      batch: this.#number,
      counts: this.counts.seal(),
      measurements: this.measurements.seal(),
      users: this.users.seal(),
      exposures: this.exposures.seal(),
      messages: this.messages.seal(),
      series: joined(earlier.series, this.series),
      totals: this.totals,
      cumulative: this.cumulative,
      mints: this.mints.map(hashedId),
      uses: this.uses.map(hashedId),
      forgotten: this.forgotten,
      unresolved: this.unresolved.map(hashedId),
      senders: joined(earlier.senders, this.senders),
      ledger: refused.length === 0 ? own : [...refused, ...own],
    };
  }

  /**
   * Returns the arrays to the pool in reverse order of allocation. The next batch thus gets large arrays for the same
   * kinds.
   */
  release(): void {
    this.messages.release();
    this.exposures.release();
    this.users.release();
    this.measurements.release();
    this.counts.release();
  }
}

function joined<T>(earlier: readonly T[], own: readonly T[]): readonly T[] {
  return earlier.length === 0 ? own : [...earlier, ...own];
}

export type LedgerRow = Omit<LedgerLine, keyof LedgerTotal>;

/** Maximum number of rows in memory. Rows collect in memory while the disk is full. */
const maxRows = 20_000;

/** Ledger counts that are not on disk yet, by row. */
export class LedgerTotals {
  readonly #limit: number;
  #totals = new Map<LedgerRow, LedgerTotal>();

  /** @param limit maximum number of rows. Counts for further rows are dropped */
  constructor(limit = maxRows) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#totals.size;
  }

  /** Adds one to a row at `at` (Unix ms). */
  add(row: LedgerRow, at: number, example: LedgerExample | null = null): void {
    const totals = this.#totals.get(row);
    if (totals === undefined) {
      this.#open(row, { count: 1, lastAt: at, example });
      return;
    }
    totals.count += 1;
    if (at < totals.lastAt) return;
    totals.lastAt = at;
    if (example !== null) totals.example = example;
  }

  take(): LedgerTotals {
    const taken = new LedgerTotals(this.#limit);
    taken.#totals = this.#totals;
    this.#totals = new Map();
    return taken;
  }

  giveBack(taken: LedgerTotals): void {
    for (const [row, from] of taken.#totals) {
      const totals = this.#totals.get(row);
      if (totals === undefined) this.#open(row, { ...from });
      else mergeLedgerTotal(totals, from);
    }
  }

  lines(): LedgerLine[] {
    return Array.from(this.#totals, ([row, totals]) => ({ ...row, ...totals }));
  }

  #open(row: LedgerRow, totals: LedgerTotal): void {
    if (this.#totals.size < this.#limit) this.#totals.set(row, totals);
  }
}
