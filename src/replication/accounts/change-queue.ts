import { setTimeout as pause } from 'node:timers/promises';
import type { Change } from '../../accounts/store/account-store.ts';
import { storeAway } from '../../accounts/store/committed.ts';
import { Layer } from '../../accounts/store/layer.ts';
import { postgresAway, Refusal } from '../../contract/errors.ts';
import { type ChildSpanOptions, currentSpan, inSpan, type Span } from '../../runtime/spans.ts';
import type { CommitWatch } from '../../storage/lmdb/store-health.ts';
import { isSameEntry, LogGap, newLogId } from '../postgres/follower.ts';
import { PostgresError } from '../postgres/postgres-error.ts';
import type { Run, Statement } from '../postgres/session.ts';
import { type AccountStoreServices, type AccountsFollower, patienceMs } from './accounts-follower.ts';
import { type History, lockHistory, writeChange } from './control-statements.ts';
import { repairKey } from './copy.ts';
import type { AccountChange } from './record-codec.ts';

/** Maximum number of waiting changes. Each change holds a request open. */
const maxWaiting = 10_000;
/** Maximum number of changes in one transaction, because it holds the lock and blocks the event loop. */
const maxTogether = 500;
const pauseMs = 50;
/** Interval between checks for changes that have waited too long. */
const lookEveryMs = 250;

/** The changes of one transaction. */
interface ChangeBatch {
  /** The changes that the copy lacks, followed by this node's change, if any. */
  readonly changes: readonly AccountChange[];
  readonly own: AccountChange | undefined;
  readonly statement: Statement | undefined;
  readonly pending: readonly PendingChange[];
  /** Callbacks that resolve the calls of `add`. They run when the transaction is confirmed. */
  readonly callbacks: readonly (() => void)[];
  /** Earlier batches with an unknown result that were found in PostgreSQL after all. */
  readonly found: readonly UnsettledBatch[];
  /** True if the batch includes the change that repairs the accounts after PostgreSQL has lost data. */
  readonly repairs: boolean;
  readonly era: number;
}

/** A batch whose commit has an unknown result. */
type UnsettledBatch = Pick<ChangeBatch, 'pending' | 'callbacks'> & { readonly own: AccountChange };

/**
 * Commits changes in one transaction at a time. A transaction locks the end of the history, reads the changes of other
 * nodes, runs the waiting changes, and writes their results. After its synchronous commit, the changes are applied to
 * the copy, and their calls resolve.
 */
export class ChangeQueue {
  readonly #shared: AccountStoreServices;
  readonly #follower: AccountsFollower;
  readonly #watch: CommitWatch;
  /** Changes without a confirmed result, in order, including the changes of the current transaction. */
  readonly #waiting = new Set<PendingChange>();
  #unsettled: UnsettledBatch[] = [];
  /** Number of changes to run in separate transactions, to find the change that PostgreSQL rejects. */
  #apart = 0;
  #working: Promise<void> | undefined;
  /** Resolves when the changes of the last transaction are applied to the copy. */
  #finishing: Promise<void> = Promise.resolve();
  #repair: Change<void> | undefined;
  #isClosed = false;

  /** @param watch gets the durations of transactions with changes */
  constructor(shared: AccountStoreServices, follower: AccountsFollower, watch: CommitWatch) {
    this.#shared = shared;
    this.#follower = follower;
    this.#watch = watch;
  }

  /** @throws {Refusal} `postgres_unavailable`, `store_unavailable`, `backpressure` */
  add<T>(change: Change<T>): Promise<T> {
    if (this.#isClosed || this.#shared.availability.isDown) return Promise.reject(postgresAway());
    if (this.#waiting.size >= maxWaiting)
      return Promise.reject(new Refusal('backpressure', 'Too many changes wait for PostgreSQL; try again', 1));
    return this.#enqueue(change);
  }

  /**
   * Resolves once the repair after a loss is done; `undefined` if no repair is due. `availability` is not checked,
   * because PostgreSQL counts as unavailable until the repair.
   */
  repaired(): Promise<void> | undefined {
    if (!this.#shared.copy.state.lossOpen) return undefined;
    return this.#isClosed ? Promise.reject(postgresAway()) : this.#enqueue(() => undefined);
  }

  #enqueue<T>(change: Change<T>): Promise<T> {
    const waiting = new PendingChange(change, this.#shared.clock.monotonic());
    this.#waiting.add(waiting);
    this.#work();
    return waiting.done as Promise<T>;
  }

  /** Commits the waiting changes, and refuses later changes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
  }

  #work(): void {
    if (this.#working !== undefined) return;
    const timer = setInterval(() => this.#refuseOld(), lookEveryMs);
    this.#working = this.#runBatches().finally(() => {
      clearInterval(timer);
      this.#working = undefined;
      if (this.#waiting.size > 0) this.#work();
    });
  }

  async #runBatches(): Promise<void> {
    while (this.#waiting.size > 0) if (!(await this.#runBatch())) await pause(pauseMs);
    this.#unsettled = []; // A later read finds the changes that have succeeded.
    await this.#finishing;
  }

  /** @returns true to run the next batch immediately */
  async #runBatch(): Promise<boolean> {
    const { changes, copy, availability, clock, repair } = this.#shared;
    const began = clock.monotonic();
    let batch: ChangeBatch | undefined;
    try {
      if (copy.state.lossOpen) this.#repair ??= await repair();
      await changes.transaction(async (run) => {
        batch = await this.#prepare(run);
        // The statement is not awaited, so it is sent together with COMMIT. If it fails, the transaction fails.
        if (batch.statement !== undefined) void run(batch.statement);
      });
    } catch (error) {
      if (batch?.pending.length && isOfData(error)) {
        this.#isolateRefusal(batch, error);
        return true;
      }
      if (batch !== undefined) this.#keepUnsettled(batch, error);
      if (!(error instanceof LogGap)) availability.failed(error as Error);
      else await this.#follower.replace(error).catch((cause) => availability.failed(cause));
      return false;
    }
    const { own, pending, found, repairs } = batch!;
    if (own !== undefined) this.#watch.took(clock.monotonic() - began, { writes: own.writes.length });
    availability.succeeded();
    this.#remove([...found.flatMap((known) => known.pending), ...pending]);
    this.#unsettled = []; // After this commit, the unconfirmed changes that were not found have failed.
    this.#apart = Math.max(0, this.#apart - pending.length);
    await this.#finishing; // This node's disk may lack at most one confirmed transaction.
    this.#finishing = this.#finish(batch!);
    if (repairs) await this.#finishing;
    return true;
  }

  async #prepare(run: Run): Promise<ChangeBatch> {
    const { copy, clock, codec } = this.#shared;
    const { applied, era } = copy;
    const oldest = Math.min(applied.position, ...this.#unsettled.map(({ own }) => own.position));
    const asked = clock.monotonic();
    const history = await lockHistory(run, oldest);
    clock.heard(history.at, asked);
    clock.check();
    const foreign = codec.decodeChanges(this.#follower.next({ ...history, from: applied }));
    const below = new Layer(copy);
    for (const { writes } of foreign) below.write(writes);
    return { ...this.#buildBatch(history, below, foreign), era };
  }

  /** Runs the waiting changes on the state in PostgreSQL. */
  #buildBatch(history: History, below: Layer, foreign: readonly AccountChange[]): Omit<ChangeBatch, 'era'> {
    const { copy } = this.#shared;
    const found = this.#unsettled.filter(({ own }) => history.entries.some((each) => isSameEntry(each, own)));
    const done = new Set(found.flatMap(({ pending }) => pending));
    const most = this.#apart > 0 ? 1 : maxTogether;
    const pending = [...this.#waiting].filter((change) => !done.has(change)).slice(0, most);
    const layer = new Layer(below);
    const { lossOpen, lossMark = 0 } = copy.state;
    const repairs = this.#repair !== undefined && lossOpen;
    if (repairs && (below.get('numbers', repairKey) ?? 0) <= lossMark) this.#repair!(layer);
    const callbacks = pending.map((change) => change.run(layer, copy.canKeep));
    const { change: own, statement } = this.#ownChange(history, layer) ?? {};
    const changes = own === undefined ? foreign : [...foreign, own];
    return { changes, own, statement, pending, callbacks, found, repairs };
  }

  #ownChange({ head }: History, layer: Layer) {
    if (layer.isEmpty) return undefined;
    const { codec, randomBytes } = this.#shared;
    const { writes } = layer;
    const records = writes.map((write) => codec.encode(write));
    const id = newLogId(randomBytes);
    const change: AccountChange = { position: head.position + 1, id, writes };
    return { change, statement: writeChange(head, id, codec.encodeChange(records), records) };
  }

  /** Applies a confirmed transaction and resolves its calls, while the next transaction is running. */
  async #finish({ changes, callbacks, pending, found, repairs, era }: ChangeBatch): Promise<void> {
    try {
      await this.#shared.copy.advance(changes, era, repairs);
      if (repairs) this.#repair = undefined;
      for (const callback of [...found.flatMap((known) => known.callbacks), ...callbacks]) callback();
    } catch (error) {
      for (const change of [...found.flatMap((known) => known.pending), ...pending]) change.refuse(error);
    }
  }

  /** Keeps changes with an unknown result for another attempt. Refuses them if PostgreSQL rejected a statement. */
  #keepUnsettled({ own, pending, callbacks }: ChangeBatch, error: unknown): void {
    if (error instanceof PostgresError && error.code === 'sql') this.#refuse(pending);
    else if (own !== undefined) this.#unsettled.push({ own, pending, callbacks });
  }

  /** Finds the change whose writes PostgreSQL rejects, by running the changes one by one. */
  #isolateRefusal({ pending }: ChangeBatch, { message, sqlstate }: PostgresError): void {
    if (pending.length > 1) {
      this.#apart = pending.length;
      return;
    }
    this.#shared.log.error('PostgreSQL rejected one change; continuing with the others', { error: message, sqlstate });
    this.#apart = Math.max(0, this.#apart - 1);
    this.#refuse(pending);
  }

  #refuseOld(): void {
    const before = this.#shared.clock.monotonic() - patienceMs;
    this.#refuse([...this.#waiting].filter(({ since }) => since <= before));
  }

  #refuse(pending: readonly PendingChange[]): void {
    for (const change of pending) change.refuse(postgresAway());
    this.#remove(pending);
  }

  #remove(pending: readonly PendingChange[]): void {
    for (const change of pending) this.#waiting.delete(change);
  }
}

/** True if the data of a change caused the error: invalid data, a constraint, or a program limit. */
function isOfData(error: unknown): error is PostgresError {
  return error instanceof PostgresError && error.code === 'sql' && /^(22|23|54)/.test(error.sqlstate ?? '');
}

/** Attributes of trace spans for calls to PostgreSQL. */
export const inPostgres: ChildSpanOptions = { isCall: true, attributes: { 'db.system.name': 'postgresql' } };

/** A change that waits for a transaction. */
class PendingChange {
  /** Arrival time, monotonic, ms. */
  readonly since: number;
  readonly done: Promise<unknown>;
  readonly #change: Change<unknown>;
  readonly #span = currentSpan();
  /** Trace span from the end of the change to the end of the transaction. */
  #commit: Span | undefined;
  #resolve: (value: unknown) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isSettled = false;

  constructor(change: Change<unknown>, since: number) {
    this.#change = change;
    this.since = since;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /**
   * Runs the change in a transaction that sees the writes in `layer`. Adds the writes of the change to `layer`.
   * @param canKeep true if the node can store writes
   * @returns a function that resolves or rejects the call
   */
  run(layer: Layer, canKeep: boolean): () => void {
    const tx = new Layer(layer);
    try {
      const result = inSpan(this.#span, () => this.#change(tx));
      this.#commit ??= this.#span?.startChild('commit accounts', inPostgres);
      if (!tx.isEmpty && !canKeep) throw storeAway();
      if (!tx.isEmpty) layer.write(tx.writes);
      return () => this.#settle(() => this.#resolve(result));
    } catch (error) {
      return () => this.refuse(error);
    }
  }

  refuse(error: unknown): void {
    this.#settle(() => this.#reject(error), error);
  }

  #settle(callback: () => void, error?: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#commit?.end(error);
    callback();
  }
}
