import { createHash } from 'node:crypto';
import { Refusal } from '../../../contract/errors.ts';
import type { ImportedPart, ImportPart } from '../../../contract/shapes/import.ts';
import type { Batch } from '../../../storage/commit/batch.ts';
import { createMeasurement, type Digest, digestBytes, digestWords } from '../../../storage/commit/records.ts';
import type { UsageStore } from '../../../storage/commit/usage-store.ts';
import { bucketAt, horizonsAt, type Retention } from '../../../storage/lmdb/blocks.ts';
import { isRemembered, permanentAt } from '../../../storage/lmdb/messages.ts';
import type { Application, Environment } from '../../../storage/lmdb/records.ts';
import { admit } from '../../admission.ts';
import type { CountingDeps } from '../../count-once.ts';
import { aheadMs } from '../../counted-at.ts';

interface ImportedPartsDeps extends CountingDeps {
  readonly retention: Retention;
  readonly usageStore: Pick<UsageStore, 'store' | 'freshen'>;
}

export interface ImportTarget {
  readonly application: Application;
  readonly environment: Environment;
}

/** Maximum number of records in the journal and not yet in the store: 4 MiB. Packets are refused only at 64 MiB. */
const maxUnfolded = 100_000;

/** Maximum number of parts in memory. Earlier parts are found in the store. */
const maxKnown = 1000;

/**
 * Imports parts of files with earlier counts. The batch that counts a part also stores its identity permanently. A part
 * therefore counts only once, even after a restart or on another node.
 */
export class ImportedParts {
  readonly #deps: ImportedPartsDeps;
  /** Most recent parts, by identity. Each promise resolves when the part is on disk. */
  readonly #known = new Map<string, Promise<void>>();
  #unfolded = 0;
  #folding: Promise<void> | undefined;

  constructor(deps: ImportedPartsDeps) {
    this.#deps = deps;
  }

  /** Waits until there is room for a part, so that imports do not delay packets. @throws {Refusal} */
  async room(): Promise<void> {
    while (this.#unfolded >= maxUnfolded) {
      this.#folding ??= this.#fold();
      await this.#folding;
    }
  }

  has(target: ImportTarget, part: ImportPart): boolean {
    return this.#before(createIdentity(target, part)) !== undefined;
  }

  /** Returns the expected result of `add`, without counting the part. @throws {Refusal} `invalid_body` */
  check(target: ImportTarget, part: ImportPart): ImportedPart {
    checkPart(part);
    return { ...nothing, counted: !this.has(target, part), outside: this.#outside(part) };
  }

  /**
   * Counts a part, unless it was counted before. Resolves when the part is on disk.
   * @throws {Refusal} `invalid_body`, or a refusal of `admit` or `Lane.submit`
   */
  async add(target: ImportTarget, part: ImportPart): Promise<ImportedPart> {
    checkPart(part);
    const { number } = target.application;
    const identity = createIdentity(target, part);
    const before = this.#before(identity);
    if (before !== undefined) {
      await before;
      return { ...nothing, counted: false, outside: this.#outside(part) };
    }
    admit(this.#deps);
    const added = { ...nothing, counted: true };
    const durable = this.#deps.findLane(number).submit(number, (batch) => {
      const { extent: from, folded, dropped } = batch;
      added.outside = this.#fill(batch, target.environment, part);
      added.folded = batch.folded - folded;
      added.dropped = batch.dropped - dropped;
      batch.messages.add(identity, permanentAt, from, batch.extent);
    });
    this.#remember(identity, durable);
    this.#unfolded += part.counts.length + 3 * (part.measurements?.length ?? 0);
    await durable;
    return added;
  }

  /** Returns the number of counts and measurements of a part that are older than the retention, or in the future. */
  #outside({ counts, measurements = [] }: ImportPart): number {
    const isKept = this.#kept();
    const isOutside = ([time]: readonly number[]) => !isKept(time!);
    return counts.filter(isOutside).length + measurements.filter(isOutside).length;
  }

  /** @returns the number of counts and measurements outside the retention */
  #fill(batch: Batch, environment: Environment, part: ImportPart): number {
    const { clock, retention, dictionary } = this.#deps;
    const series = dictionary.of(environment.number);
    const horizons = horizonsAt(clock.now(), retention);
    const isKept = this.#kept();
    const { variants, counts, metrics = [], measurements = [] } = part;
    const variantRef = eachOnce((at) => series.variant(variants[at]![0]!, variants[at]![1]!, batch));
    const metricRef = eachOnce((at) => {
      const [metric = '', feature, variant] = metrics[at]!;
      if (feature === undefined) return series.metric(metric, batch);
      return series.featureMetric(metric, feature, variant!, batch);
    });
    const findBucket = (time: number) => bucketAt(Math.floor(time / 60), horizons);
    for (const [time = 0, variant = 0, checks = 0, used = 0, viewed = 0] of counts) {
      const ref = isKept(time) ? variantRef(variant) : undefined;
      if (ref !== undefined) batch.counts.add(ref, findBucket(time), checks, used, viewed);
    }
    for (const [time = 0, metric = 0, ...values] of measurements) {
      const ref = isKept(time) ? metricRef(metric) : undefined;
      if (ref !== undefined) batch.measurements.addSummary(ref, findBucket(time), createMeasurement(values));
    }
    return this.#outside(part);
  }

  #kept(): (time: number) => boolean {
    const { clock, retention } = this.#deps;
    const now = clock.now();
    const oldest = horizonsAt(now, retention).days * 60;
    const latest = (now + aheadMs) / 1000;
    return (time) => time >= oldest && time <= latest;
  }

  #before(identity: Digest): Promise<void> | undefined {
    const known = this.#known.get(identity.join());
    if (known !== undefined) return known;
    const { store } = this.#deps.usageStore;
    store.messages.resetReadTxn(); // The new read transaction sees parts that were stored before this request.
    return isRemembered(store, digestBytes(...identity)) ? Promise.resolve() : undefined;
  }

  #remember(identity: Digest, durable: Promise<void>): void {
    const key = identity.join();
    this.#known.set(key, durable);
    durable.catch(() => this.#known.delete(key)); // The batch was rolled back, so the part is not counted.
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxKnown) this.#known.delete(oldest!);
  }

  async #fold(): Promise<void> {
    const folded = this.#unfolded;
    try {
      await this.#deps.usageStore.freshen('any');
      this.#unfolded -= folded;
    } finally {
      this.#folding = undefined;
    }
  }
}

const nothing = { outside: 0, folded: 0, dropped: 0 };

/** Returns the identity of a part, which is stored permanently. Hash the same input in every version. */
function createIdentity({ application, environment }: ImportTarget, part: ImportPart): Digest {
  const [a, b] = digestWords(createHash('sha256').update(`${part.import} ${part.part}`).digest());
  return [application.number, environment.number, a, b];
}

/** Caches `find`, so that each index is looked up once. */
function eachOnce(find: (at: number) => number | undefined): (at: number) => number | undefined {
  const found = new Map<number, number | undefined>();
  return (at) => {
    if (!found.has(at)) found.set(at, find(at));
    return found.get(at);
  };
}

/** Checks the rules that the schema cannot express. @throws {Refusal} `invalid_body` if a part cannot be counted */
function checkPart({ variants, counts, metrics = [], measurements = [] }: ImportPart): void {
  const check = <T>(field: string, rows: readonly T[], must: string, isValid: (row: T) => boolean) => {
    const wrong = rows.findIndex((row) => !isValid(row));
    if (wrong >= 0) throw new Refusal('invalid_body', `Field ${field.replace('*', String(wrong))} must be ${must}`);
  };
  check('counts/*/1', counts, 'the index of a variant', ([, at]) => at! < variants.length);
  check('metrics/*', metrics, 'one or three names', ({ length }) => length !== 2);
  check('measurements/*', measurements, 'a summary of the values of a metric', ([time, at, ...values]) => {
    const { sum, count, last, lastAt, min, max } = createMeasurement(values);
    const integers = [time!, at!, count - 1, lastAt];
    const isRange = Number.isFinite(sum) && Number.isFinite(min) && Number.isFinite(max) && min <= last && last <= max;
    return integers.every((each) => Number.isSafeInteger(each) && each >= 0) && at! < metrics.length && isRange;
  });
}
