import { createHash } from 'node:crypto';
import { ApiError } from '../../contract/errors.ts';
import type { ImportedPart, ImportPart } from '../../contract/shapes/import.ts';
import type { Batch } from '../../storage/commit/batch.ts';
import { type Digest, digestBytes, digestWords } from '../../storage/commit/records.ts';
import type { UsageStore } from '../../storage/commit/usage-store.ts';
import { isRemembered, permanentAt } from '../../storage/lmdb/messages.ts';
import type { Application, Environment } from '../../storage/lmdb/records.ts';
import { bucketAt, horizonsAt, type Retention } from '../../storage/lmdb/retention.ts';
import { admit } from '../admission.ts';
import type { CountingDeps } from '../count-once.ts';
import { aheadMs } from './counted-at.ts';

export interface ImportedPartsDeps extends CountingDeps {
  readonly retention: Retention;
  readonly usageStore: Pick<UsageStore, 'store' | 'freshen'>;
}

export interface ImportTarget {
  readonly application: Application;
  readonly environment: Environment;
}

/** Number of counts that may wait to be folded: 4 MiB of the journal. Packets are refused only at 64 MiB. */
const maxUnfolded = 100_000;

/** Number of parts in memory. All others are folded, so the store knows them. */
const maxKnown = 1000;

/**
 * Parts of files with earlier counts. The identity of each part is remembered permanently, in the batch that counts it, so a part
 * counts once: after a restart, and on all nodes together.
 */
export class ImportedParts {
  readonly #deps: ImportedPartsDeps;
  /** The last parts by identity. Each promise resolves when the part is on disk. */
  readonly #known = new Map<string, Promise<void>>();
  #unfolded = 0;
  #folding: Promise<void> | undefined;

  constructor(deps: ImportedPartsDeps) {
    this.#deps = deps;
  }

  /** Resolves when there is room for a part: files must not delay packets. @throws {ApiError} */
  async room(): Promise<void> {
    while (this.#unfolded >= maxUnfolded) {
      this.#folding ??= this.#fold();
      await this.#folding;
    }
  }

  /** Whether a part was counted before. */
  has(target: ImportTarget, part: ImportPart): boolean {
    return this.#before(identityOf(target, part)) !== undefined;
  }

  /** What `add` would do, as far as that is known before. @throws {ApiError} `invalid_body` if a count has no variant */
  check(target: ImportTarget, part: ImportPart): ImportedPart {
    checkVariants(part);
    return { ...nothing, counted: !this.has(target, part), outside: this.#outside(part) };
  }

  /**
   * Counts a part, unless it was counted before. Resolves when it is on disk.
   * @throws {ApiError} `invalid_body` if a count has no variant, and as `admit` and `Lane.submit` do
   */
  async add(target: ImportTarget, part: ImportPart): Promise<ImportedPart> {
    checkVariants(part);
    const { number } = target.application;
    const identity = identityOf(target, part);
    const before = this.#before(identity);
    if (before !== undefined) {
      await before;
      return { ...nothing, counted: false, outside: this.#outside(part) };
    }
    admit(this.#deps);
    const added = { ...nothing, counted: true };
    const durable = this.#deps.laneOf(number).submit(number, (batch) => {
      const { extent: from, folded, dropped } = batch;
      added.outside = this.#fill(batch, target.environment, part);
      added.folded = batch.folded - folded;
      added.dropped = batch.dropped - dropped;
      batch.messages.add(identity, permanentAt, from, batch.extent);
    });
    this.#remember(identity, durable);
    this.#unfolded += part.counts.length;
    await durable;
    return added;
  }

  /** Number of counts of a part that are older than the retention, or in the future. */
  #outside({ counts }: ImportPart): number {
    const isKept = this.#kept();
    return counts.filter(([time]) => !isKept(time!)).length;
  }

  /** @returns the number of counts outside the retention */
  #fill(batch: Batch, environment: Environment, { variants, counts }: ImportPart): number {
    const { clock, retention, dictionary } = this.#deps;
    const series = dictionary.of(environment.number);
    const horizons = horizonsAt(clock.now(), retention);
    const isKept = this.#kept();
    const refs = new Map<number, number | undefined>();
    let outside = 0;
    for (const [time = 0, variant = 0, checks = 0, used = 0, viewed = 0] of counts) {
      if (!isKept(time)) {
        outside += 1;
        continue;
      }
      if (!refs.has(variant)) {
        const [feature = '', name = ''] = variants[variant]!;
        refs.set(variant, series.variant(feature, name, batch));
      }
      const ref = refs.get(variant);
      if (ref === undefined) continue;
      batch.counts.add(ref, bucketAt(Math.floor(time / 60), horizons), checks, used, viewed);
    }
    return outside;
  }

  /** Whether counts of a time (Unix seconds) are kept. */
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
    store.messages.resetReadTxn(); // Include what was folded before this request.
    return isRemembered(store, digestBytes(...identity)) ? Promise.resolve() : undefined;
  }

  #remember(identity: Digest, durable: Promise<void>): void {
    const key = identity.join();
    this.#known.set(key, durable);
    durable.catch(() => this.#known.delete(key)); // Nothing of it was kept.
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

/** Stored permanently: hash the same input in every version, or a file imported across an update counts twice. */
function identityOf({ application, environment }: ImportTarget, part: ImportPart): Digest {
  const [a, b] = digestWords(createHash('sha256').update(`${part.import} ${part.part}`).digest());
  return [application.number, environment.number, a, b];
}

function checkVariants({ variants, counts }: ImportPart): void {
  const wrong = counts.findIndex(([, variant]) => variant! >= variants.length);
  if (wrong < 0) return;
  throw new ApiError('invalid_body', `Field counts/${wrong}/1 must be the index of a variant`);
}
