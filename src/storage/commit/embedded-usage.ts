import { Refusal } from '../../contract/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Maintenance } from '../aggregate/maintain.ts';
import type { IdentityTables, Mint } from '../lmdb/instances.ts';
import type { StoreHealth } from '../lmdb/store-health.ts';
import type { UsageTables } from '../lmdb/usage.ts';
import type { Batch } from './batch.ts';
import type { Committer } from './committer.ts';
import type { Forgotten } from './envelope.ts';
import type { JournaledCommitter } from './journaled-committer.ts';
import type { Lane } from './lane.ts';
import type { Freshness, PeopleFreshness, UsageReadiness, UsageStore } from './usage-store.ts';

interface EmbeddedUsageDeps {
  readonly store: UsageTables;
  readonly digestSecret: Buffer;
  readonly clock: Pick<Clock, 'now'>;
  /** The committers, one for each lane. All data of an application is written by one lane. */
  readonly committers: readonly FoldingCommitter[];
  /** Called after the committers are closed and before the store is closed. */
  readonly ended?: () => void;
  readonly health: Pick<StoreHealth, 'ready' | 'reason'>;
  findLane(application: number): Pick<Lane, 'submit'>;
}

export type FoldingCommitter = Committer &
  Pick<JournaledCommitter, 'fold' | 'unfolded'> & { readonly people?: IdentityTables | undefined };

/**
 * Maximum number of bytes of a journal that are not in the store yet. Beyond the maximum, packets are refused. This
 * bounds the disk space and the duration of the next startup.
 */
export const maxUnfoldedBytes = 64 * 1024 * 1024;
export const foldsLate = new Refusal('backpressure', 'Too much data waits in the journal to be folded; try again', 1);

const storeFails = 'the store does not accept data; see the log';

/** Keeps usage in the LMDB store of the data directory. Reports read the same store that commits write. */
export class EmbeddedUsage implements UsageStore {
  readonly store: UsageTables;
  readonly counted: UsageTables;
  readonly digestSecret: Buffer;
  readonly committers: readonly FoldingCommitter[];
  readonly resolvesLater = false;
  readonly #deps: EmbeddedUsageDeps;
  #closed: Promise<void> | undefined;

  constructor(deps: EmbeddedUsageDeps) {
    this.#deps = deps;
    this.store = deps.store;
    this.counted = deps.store;
    this.digestSecret = deps.digestSecret;
    this.committers = deps.committers;
  }

  maintain(application: number, step: Maintenance): Promise<number> {
    return this.#findCommitter(application).maintain(step);
  }

  findPeople(application: number): IdentityTables {
    return this.#findCommitter(application).people ?? this.store;
  }

  keepMint(mint: Mint, application: number, fill: (batch: Batch) => void): Promise<void> {
    const add = (batch: Batch) => {
      batch.mints.push(mint);
      fill(batch);
    };
    return this.#deps.findLane(application).submit(application, add, mint.profile.length);
  }

  forget(forgotten: Forgotten): Promise<void> {
    const { application } = forgotten;
    return this.#deps.findLane(application).submit(application, (batch) => void batch.forgotten.push(forgotten));
  }

  onForgotten(): void {}

  async passed(): Promise<boolean> {
    return true;
  }

  async freshen(people: PeopleFreshness = 'now'): Promise<Freshness | undefined> {
    try {
      const lacking = await Promise.all(this.committers.map((committer) => committer.fold(people)));
      const longest = Math.max(...lacking);
      return longest === 0 ? undefined : { completeThrough: this.#deps.clock.now() - longest, mayBeCounting: [] };
    } catch {
      throw new Refusal('store_unavailable', storeFails, 5);
    }
  }

  refusal(): Refusal | undefined {
    return this.committers.some(({ unfolded }) => unfolded.bytes > maxUnfoldedBytes) ? foldsLate : undefined;
  }

  readiness(): UsageReadiness {
    const trouble = () => this.committers.find(({ journal }) => journal?.trouble)?.journal?.trouble;
    const { ready, reason } = this.#deps.health;
    const managing = ready ? undefined : (reason ?? trouble() ?? storeFails);
    return { counting: managing ?? this.refusal()?.message, managing };
  }

  status(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    if (this.#closed === undefined) {
      this.#deps.ended?.();
      this.#closed = this.store.lmdb.close();
    }
    return this.#closed;
  }

  #findCommitter(application: number): FoldingCommitter {
    return this.committers[application % this.committers.length]!;
  }
}
