import type { InstanceUse, Mint } from '../store/instances.ts';
import type { LedgerLine } from '../store/ledger.ts';
import type { NewSeries } from '../store/series.ts';
import type { Digest } from './digest.ts';
import { type Envelope, type Forgotten, recordWidth } from './envelope.ts';
import { LedgerTallies } from './ledger-tallies.ts';
import { RecordArrays } from './record-arrays.ts';

/** Records in a growing array of doubles. */
class Records {
  array: Float64Array;
  length = 0;
  private readonly arrays: RecordArrays;

  constructor(arrays: RecordArrays) {
    this.arrays = arrays;
    this.array = arrays.take();
  }

  push(ref: number, bucket: number, a: number, b: number, c: number): void {
    const at = this.length * recordWidth;
    if (at + recordWidth > this.array.length) this.array = this.arrays.grow(this.array);
    const array = this.array;
    array[at] = ref;
    array[at + 1] = bucket;
    array[at + 2] = a;
    array[at + 3] = b;
    array[at + 4] = c;
    this.length += 1;
  }

  release(): void {
    this.arrays.give(this.array);
  }
}

const recordBytes = recordWidth * Float64Array.BYTES_PER_ELEMENT;
/** What names take: of a new series, or of a row of the ledger. */
const namedBytes = 300;

/** The packets that will be committed together, and the promise that all their senders wait for. */
export class Batch {
  packets = 0;
  readonly series: NewSeries[] = [];
  /** Instance ids that were minted and used, and identities to be forgotten: see instances.ts. */
  readonly mints: Mint[] = [];
  readonly uses: InstanceUse[] = [];
  readonly forgotten: Forgotten[] = [];
  /** What the ledger says of the batch's packets. */
  readonly ledger = new LedgerTallies();
  /** Names over a limit that were counted under the surplus name. */
  folded = 0;
  /** Entries that were left out because their names are not valid. */
  dropped = 0;
  /** Resolves when the batch is on disk; rejects when nothing of it was kept. */
  readonly durable: Promise<void>;
  /** Ends the wait of every sender. */
  readonly settle: { kept: () => void; refused: (reason: unknown) => void };
  readonly #counts: Records;
  readonly #measurements: Records;
  readonly #users: Records;
  readonly #exposures: Records;
  readonly #messages: Records;

  /** @param arrays where the batch gets room for its records from */
  constructor(arrays = new RecordArrays()) {
    this.#counts = new Records(arrays);
    this.#measurements = new Records(arrays);
    this.#users = new Records(arrays);
    this.#exposures = new Records(arrays);
    this.#messages = new Records(arrays);
    let settle: Batch['settle'] | undefined;
    this.durable = new Promise((kept, refused) => {
      settle = { kept, refused };
    });
    this.durable.catch(() => {}); // Every sender may have gone: that is no unhandled rejection.
    this.settle = settle!;
  }

  /** Memory that the batch takes, about. */
  get bytes(): number {
    const cells = this.#counts.length + this.#measurements.length;
    const records = cells + this.#users.length + this.#exposures.length + this.#messages.length;
    return records * recordBytes + (this.series.length + this.ledger.size) * namedBytes;
  }

  /** Adds what one packet says of a variant, to a bucket of time (see `bucketOf`). */
  addCounts(ref: number, bucket: number, checks: number, used: number, viewed: number): void {
    this.#counts.push(ref, bucket, checks, used, viewed);
  }

  /** Adds a metric's value, reported at `at` (Unix ms). */
  addValue(ref: number, bucket: number, value: number, at: number): void {
    this.#measurements.push(ref, bucket, value, at, 0);
  }

  /** Adds a user of a series in a minute (since the epoch), by both halves of the user's hash. */
  addUser(ref: number, minute: number, high: number, low: number): void {
    this.#users.push(ref, minute, high, low, 0);
  }

  /** Begins the exposures of a person, by the digest of the identity as four words; `addExposure` must follow. */
  addPerson(digest: Digest): void {
    this.#exposures.push(-1, digest[0], digest[1], digest[2], digest[3]);
  }

  /** Adds what the person was given of a variant, at a time in Unix seconds. */
  addExposure(ref: number, seconds: number, checks: number, used: number, viewed: number): void {
    this.#exposures.push(ref, seconds, checks, used, viewed);
  }

  /** Adds a message that must not count again (see seen-messages.ts), counted at a time in Unix ms. */
  addMessage(identity: Digest, at: number): void {
    this.#messages.push(at, identity[0], identity[1], identity[2], identity[3]);
  }

  /** Deletes such a message that was counted at `at`: its application has others instead. */
  forgetMessage(identity: Digest, at: number): void {
    this.#messages.push(-1 - at, identity[0], identity[1], identity[2], identity[3]);
  }

  /**
   * Gives the records' room back: the worker is done with the envelope. What was taken first goes back last, so that the
   * next batch takes large arrays for the same records as this one.
   */
  release(): void {
    this.#messages.release();
    this.#exposures.release();
    this.#users.release();
    this.#measurements.release();
    this.#counts.release();
  }

  /**
   * The batch as it crosses to the worker; the batch must not be added to afterwards.
   * @param earlierSeries of batches that were not kept
   * @param refused what the ledger says of packets that are in no batch
   */
  envelope(earlierSeries: readonly NewSeries[], refused: readonly LedgerLine[] = []): Envelope {
    const own = this.ledger.lines();
    return {
      counts: this.#counts.array,
      countRecords: this.#counts.length,
      measurements: this.#measurements.array,
      measurementRecords: this.#measurements.length,
      users: this.#users.array,
      userRecords: this.#users.length,
      exposures: this.#exposures.array,
      exposureRecords: this.#exposures.length,
      series: earlierSeries.length === 0 ? this.series : [...earlierSeries, ...this.series],
      messages: this.#messages.array,
      messageRecords: this.#messages.length,
      mints: this.mints,
      uses: this.uses,
      forgotten: this.forgotten,
      ledger: refused.length === 0 ? own : [...refused, ...own],
    };
  }
}
