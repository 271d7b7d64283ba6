import { hashedId, type InstanceUse, type Mint } from '../lmdb/instances.ts';
import type { LedgerLine } from '../lmdb/ledger.ts';
import type { SenderSight } from '../lmdb/senders.ts';
import type { NewSeries } from '../lmdb/series.ts';
import type { Envelope, Forgotten, UnresolvedUse } from './envelope.ts';
import { LedgerTallies } from './ledger-tallies.ts';
import { CountRecords } from './records/counts.ts';
import { ExposureRecords } from './records/exposures.ts';
import { MeasurementRecords } from './records/measurements.ts';
import { type Extent, MessageRecords } from './records/messages.ts';
import { RecordArrays } from './records/record-arrays.ts';
import { recordBytes } from './records/record-buffer.ts';
import { UserRecords } from './records/users.ts';

/** What names take: of a new series, of a sender, or of a row of the ledger. */
const namedBytes = 300;

/** What is said once and holds for later batches too: the next batch brings it when its own was not kept. */
export interface Unkept {
  readonly series: readonly NewSeries[];
  readonly senders: readonly SenderSight[];
}

export const nothingUnkept: Unkept = { series: [], senders: [] };

/**
 * The packets that become one commit. They are added on the service's thread until the batch is sealed; the promise is
 * the one that all their senders wait for.
 */
export class Batch {
  packets = 0;
  readonly counts: CountRecords;
  readonly measurements: MeasurementRecords;
  readonly users: UserRecords;
  readonly exposures: ExposureRecords;
  readonly messages: MessageRecords;
  readonly series: NewSeries[] = [];
  /** Senders that were seen: see senders.ts. */
  readonly senders: SenderSight[] = [];
  /** Instance ids that were minted and used, and identities to be forgotten: see instances.ts. */
  readonly mints: Mint[] = [];
  readonly uses: InstanceUse[] = [];
  readonly forgotten: Forgotten[] = [];
  /** What came with instance ids that are not known here. */
  readonly unresolved: UnresolvedUse[] = [];
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
  readonly #number: number;

  /** @param arrays where the batch gets room for its records from */
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
    this.durable.catch(() => {}); // All senders may have gone: that is no unhandled rejection.
    this.settle = settle!;
  }

  /** How much is in the batch: what a message adds is what comes between two of these. */
  get extent(): Extent {
    const { counts, measurements, users, exposures, unresolved } = this;
    return [counts.records, measurements.records, users.records, exposures.records, unresolved.length];
  }

  /** Memory that the batch takes, about. */
  get bytes(): number {
    const cells = this.counts.records + this.measurements.records;
    const records = cells + this.users.records + this.exposures.records + this.messages.records;
    return (
      records * recordBytes +
      (this.series.length + this.senders.length + this.unresolved.length + this.ledger.size) * namedBytes
    );
  }

  /**
   * Ends the filling: the batch as it crosses to the worker.
   * @param earlier what batches that were not kept had to say for later ones too
   * @param refused what the ledger says of packets that are in no batch
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
      mints: this.mints.map(hashedId),
      uses: this.uses.map(hashedId),
      forgotten: this.forgotten,
      unresolved: this.unresolved.map(hashedId),
      senders: joined(earlier.senders, this.senders),
      ledger: refused.length === 0 ? own : [...refused, ...own],
    };
  }

  /**
   * Gives the records' room back: the worker is done with the envelope. What was taken first goes back last, so that the
   * next batch takes large arrays for the same records as this one.
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
