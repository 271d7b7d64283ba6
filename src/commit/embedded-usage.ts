import type { Maintenance } from '../aggregate/maintain.ts';
import type { Mint } from '../store/instances.ts';
import type { StoreHealth } from '../store/store-health.ts';
import type { UsageStore } from '../store/usage.ts';
import type { Batch } from './batch.ts';
import type { Committer } from './committer.ts';
import type { Forgotten } from './envelope.ts';
import type { Lane } from './lane.ts';
import type { UsageEngine, UsageReadiness } from './usage-engine.ts';

export interface EmbeddedUsageDeps {
  readonly store: UsageStore;
  readonly digestSecret: Buffer;
  /** One a worker: an application's data is written by one of them alone. */
  readonly committers: readonly Committer[];
  readonly health: Pick<StoreHealth, 'ready'>;
  laneOf(application: number): Pick<Lane, 'submit'>;
}

const always = Promise.resolve(true);
const storeFails = 'the store cannot take data; see the log';

/** Keeps usage in the LMDB of the data directory: what is committed is what reports read. */
export class EmbeddedUsage implements UsageEngine {
  readonly store: UsageStore;
  readonly counted: UsageStore;
  readonly digestSecret: Buffer;
  readonly committers: readonly Committer[];
  readonly resolvesLater = false;
  readonly #deps: EmbeddedUsageDeps;

  constructor(deps: EmbeddedUsageDeps) {
    this.#deps = deps;
    this.store = deps.store;
    this.counted = deps.store;
    this.digestSecret = deps.digestSecret;
    this.committers = deps.committers;
  }

  /** By the worker that owns the application's data. */
  maintain(application: number, step: Maintenance): Promise<number> {
    return this.committers[application % this.committers.length]!.maintain(step);
  }

  keepMint(mint: Mint, application: number, fill: (batch: Batch) => void): Promise<void> {
    const add = (batch: Batch) => {
      batch.mints.push(mint);
      fill(batch);
    };
    return this.#deps.laneOf(application).submit(application, add, mint.profile.length);
  }

  forget(forgotten: Forgotten): Promise<void> {
    const { application } = forgotten;
    return this.#deps
      .laneOf(application)
      .submit(application, (batch) => void batch.forgotten.push(forgotten));
  }

  onForgotten(): void {}

  passed(): Promise<boolean> {
    return always;
  }

  freshen(): undefined {
    return undefined;
  }

  refusal(): undefined {
    return undefined;
  }

  readiness(): UsageReadiness {
    const reason = this.#deps.health.ready ? undefined : storeFails;
    return { counting: reason, managing: reason };
  }

  status(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    return this.store.lmdb.close();
  }
}
