import { setTimeout as pause } from 'node:timers/promises';
import { postgresAway, Refusal } from '../contract/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Histogram } from '../runtime/histogram.ts';
import { restoreError } from '../runtime/thread-calls.ts';
import { WorkerThread } from '../runtime/worker-thread.ts';
import type { Maintenance } from '../storage/aggregate/maintain.ts';
import type { Batch } from '../storage/commit/batch.ts';
import type { Committer } from '../storage/commit/committer.ts';
import { foldsLate, maxUnfoldedBytes } from '../storage/commit/embedded-usage.ts';
import type { Forgotten } from '../storage/commit/envelope.ts';
import type { Lane } from '../storage/commit/lane.ts';
import type {
  Freshness,
  NodeStatus,
  UsageReadiness,
  UsageStore,
  UsageStoreStatus,
} from '../storage/commit/usage-store.ts';
import type { Mint } from '../storage/lmdb/instances.ts';
import type { Deletion } from '../storage/lmdb/records.ts';
import type { StoreHealth } from '../storage/lmdb/store-health.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import { loggedMint } from './entry.ts';
import { linkAt, type NodeCondition, type Refuses } from './node-deps.ts';
import type { MainActions, ReplicaActions, ReplicaWorkerStart } from './replica-worker.ts';
import type { SealRequest, SealResult } from './seal.ts';
import type { Spool } from './spool.ts';
import type { SpoolCommitter } from './spool-committer.ts';

interface ClusterUsageDeps {
  /** Path of the compiled `replication/replica-worker`. */
  readonly workerFile: string;
  readonly start: ReplicaWorkerStart;
  readonly spool: Spool;
  readonly committer: SpoolCommitter;
  readonly store: UsageTables;
  readonly digestSecret: Buffer;
  /** Saves this node's counts and accounts to files before they are replaced. `bytes` is the size of all such files. */
  readonly setAside: { readonly bytes: number; keep(lost: 'usage'): Promise<void> };
  /** Time limit for shipping at shutdown. */
  readonly shippingMs: number;
  readonly health: Pick<StoreHealth, 'ready' | 'reason' | 'failed'>;
  readonly clock: Clock;
  /** Called when the replica's thread has failed, because this node then ships no counts. */
  readonly fatal: (reason: string) => void;
  readonly accountsVersion: () => number;
  findLane(application: number): Pick<Lane, 'submit'>;
  settled(): Promise<void>;
}

const storeFails = 'the store does not accept data; see the log';
const joining = 'this node has not joined the cluster yet';
const away = 'this node cannot follow PostgreSQL; see the log';
/** Time without a heartbeat after which a node counts as stopped or cut off from PostgreSQL. */
const silentMs = 10_000;
const refusals: Readonly<Record<Refuses, string>> = {
  copied:
    'another process has used a copy of the data directory of this node: keep the directory, and start a node with an empty directory in its place',
  closed: 'the stream of this node was closed: restart the node to ship its remaining counts',
};

/**
 * Keeps usage in a log in PostgreSQL that several machines share. This node counts into its spool, and ships the counts
 * as deltas to the log. It applies the log to its replica, which reports read. Shipping and applying run in a thread:
 * see `ReplicaNode`.
 */
export class ClusterUsage implements UsageStore {
  readonly store: UsageTables;
  readonly counted;
  readonly digestSecret: Buffer;
  readonly committers: readonly Committer[];
  readonly resolvesLater = true;
  readonly delays: { readonly replica: Histogram };
  readonly #deps: ClusterUsageDeps;
  readonly #thread: WorkerThread<ReplicaActions>;
  #told: NodeCondition;
  #isFull = false;
  #hasEnded = false;
  #isClosing = false;
  /** True once the committer is closing. From then on, deltas cannot be sealed. */
  #isOver = false;
  #onTold: () => void = () => {};
  #onForgotten: () => void = () => {};

  constructor(deps: ClusterUsageDeps) {
    this.#deps = deps;
    this.#told = untold(deps.start, deps.clock.now());
    this.store = deps.store;
    this.counted = deps.spool.store;
    this.digestSecret = deps.digestSecret;
    this.committers = [this.#shippingAtItsEnd(deps.committer)];
    this.#thread = new WorkerThread(deps.workerFile, deps.start, {
      seal: (request) => this.#seal(request),
      tell: (told) => this.#hear(told),
      storeFailed: (failure) => deps.health.failed(restoreError(failure)),
      forgotten: async () => this.#onForgotten(),
      setAside: () => deps.setAside.keep('usage'),
    } satisfies MainActions);
    this.delays = { replica: this.#thread.delays };
    void this.#thread.ended.then((reason) => this.#end(reason));
  }

  /**
   * Resolves with true when this node has joined, or with false if PostgreSQL was unavailable for `ms`.
   * @throws {Error} if this process must not use this data directory with this database
   */
  joined(ms: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(false), ms).unref();
      this.#onTold = () => {
        const { refusal, isJoined } = this.#told;
        if (refusal === undefined && !isJoined && !this.#hasEnded) return;
        clearTimeout(timer);
        this.#onTold = () => {};
        if (refusal !== undefined) reject(new Error(refusal));
        else resolve(isJoined);
      };
      this.#onTold();
    });
  }

  /** @param listener called when any node has forgotten a person: caches must drop that person */
  onForgotten(listener: () => void): void {
    this.#onForgotten = listener;
  }

  /** Only rolls up counts, because the log determines all other content of a replica. */
  async maintain(_application: number, step: Maintenance): Promise<number> {
    if (step.task === 'deletion') return 0;
    return this.#thread.call('maintain', step);
  }

  async keepMint(mint: Mint, application: number, fill: (batch: Batch) => void): Promise<void> {
    await orUnavailable(this.#thread.call('mint', loggedMint(mint)));
    await this.#deps.findLane(application).submit(application, fill);
  }

  forget(forgotten: Forgotten): Promise<void> {
    return orUnavailable(this.#thread.call('forget', forgotten));
  }

  async passed({ application, environments, whole }: Deletion): Promise<boolean> {
    await orUnavailable(this.#thread.call('erase', { application, environments, whole }));
    return true;
  }

  findPeople(): UsageTables {
    return this.store;
  }

  freshen(): Promise<Freshness> {
    return orUnavailable(this.#thread.call('freshen'));
  }

  refusal(): Refusal | undefined {
    if (this.#told.refuses !== undefined) return mayNotCount;
    if (this.#deps.committer.unfolded.bytes > maxUnfoldedBytes) return foldsLate;
    return this.#isFull ? spoolFull : undefined;
  }

  readiness(): UsageReadiness {
    const { refuses, trouble, isJoined } = this.#told;
    const full = this.#isFull ? 'the spool is full' : undefined;
    const { ready, reason } = this.#deps.health;
    const counting = ready ? ((refuses && refusals[refuses]) ?? full) : (reason ?? storeFails);
    // Unauthenticated senders can read this reason. The host and the cause are only in the log and the status.
    const managing = trouble === undefined ? (isJoined ? undefined : joining) : away;
    return { counting, managing: counting ?? managing };
  }

  status(): UsageStoreStatus {
    const { clock, setAside } = this.#deps;
    const { status } = this.#told;
    const isSilent = ({ state, lastBeat }: NodeStatus) => state === 'up' && clock.now() - lastBeat > silentMs;
    const nodes = status.nodes.map((node) => (isSilent(node) ? { ...node, state: 'silent' as const } : node));
    return { ...status, nodes, setAsideBytes: setAside.bytes };
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#thread.close();
    await Promise.all([this.store.lmdb.close(), this.#deps.spool.close()]);
  }

  /** Waits until all packets admitted before the watermark are committed, then moves their counts to a sealed delta. */
  async #seal(request: SealRequest): Promise<SealResult> {
    const { committer, accountsVersion, settled } = this.#deps;
    const watermark = { ...request.watermark, version: accountsVersion() };
    await settled();
    try {
      const result = await committer.seal({ ...request, watermark });
      return { ...result, storeFails: !this.#deps.health.ready };
    } catch (error) {
      // A failed seal stops the store like a failed batch, because a later successful seal would hide the failure.
      if (!this.#isOver) this.#deps.health.failed(error);
      throw error;
    }
  }

  #hear(told: NodeCondition): void {
    this.#told = told;
    const { bytes, maxBytes } = told.status.spool;
    this.#isFull = bytes >= maxBytes;
    this.#onTold();
  }

  /** Returns a committer whose `close` ships all counts after the last packet is on disk. */
  #shippingAtItsEnd(committer: SpoolCommitter): Committer {
    const close = async () => {
      await Promise.race([
        this.#thread.call('end').catch(() => {}),
        pause(this.#deps.shippingMs, undefined, { ref: false }),
      ]);
      this.#isOver = true;
      await committer.close();
    };
    return { ...committer, close };
  }

  #end(reason: string): void {
    if (!this.#isClosing && !this.#hasEnded) this.#deps.fatal(`the thread that ships counts failed: ${reason}`);
    this.#hasEnded = true;
    this.#onTold();
  }
}

/** Replaces an error of PostgreSQL by a refusal for unauthenticated senders, without the host. @throws {Refusal} */
function orUnavailable<T>(result: Promise<T>): Promise<T> {
  return result.catch((error) => {
    throw error instanceof Refusal ? error : postgresAway();
  });
}

function untold({ facts, maxSpoolBytes }: ClusterUsageDeps['start'], now: number): NodeCondition {
  return {
    isJoined: false,
    refusal: undefined,
    trouble: undefined,
    refuses: undefined,
    status: {
      directory: facts.directory,
      postgres: linkAt(now),
      nodes: [],
      completeThrough: 0,
      rebases: 0,
      spool: { bytes: 0, maxBytes: maxSpoolBytes, oldestUnshipped: undefined },
      refused: { rows: 0, latest: [] },
      log: { trimmed: 0, bytes: 0, oldest: undefined },
    },
  };
}

const spoolFull = new Refusal(
  'spool_full',
  'The spool is full: PostgreSQL is not accepting data; send it again later',
  5,
);
const mayNotCount = new Refusal('store_unavailable', 'This node must not count; see its log', 5);
