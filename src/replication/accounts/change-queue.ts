import { setTimeout as pause } from 'node:timers/promises';
import type { Plan } from '../../accounts/store/account-store.ts';
import { storeAway } from '../../accounts/store/committed.ts';
import { Layer } from '../../accounts/store/layer.ts';
import { ApiError, postgresAway } from '../../contract/errors.ts';
import { currentSpan, inSpan, type PartOfSpan, type Span } from '../../runtime/spans.ts';
import type { CommitWatch } from '../../storage/lmdb/store-health.ts';
import { isSameEntry, LogGap, newLogId } from '../postgres/follower.ts';
import { PostgresError } from '../postgres/postgres-error.ts';
import type { Run, Statement } from '../postgres/session.ts';
import { type AccountsFollower, patienceMs, type Shared } from './accounts-follower.ts';
import { type History, lockHistory, writeChange } from './control-statements.ts';
import { repairMark } from './copy.ts';
import type { AccountChange } from './record-codec.ts';

/** Maximum number of waiting plans. Each holds a request. */
const maxWaiting = 10_000;
/** Maximum number of plans in one transaction, which holds the event loop and the lock. */
const maxTogether = 500;
const pauseMs = 50;
/** Interval between checks for plans that have waited too long. */
const lookEveryMs = 250;

/** One transaction. */
interface Turn {
  /** The changes missing in the copy, then the own change, if any. */
  readonly changes: readonly AccountChange[];
  readonly own: AccountChange | undefined;
  readonly statement: Statement | undefined;
  readonly plans: readonly WaitingPlan[];
  /** Answer the callers. Called when the transaction is confirmed. */
  readonly answers: readonly (() => void)[];
  /** Earlier changes found in PostgreSQL. */
  readonly found: readonly Unsettled[];
  /** Whether it includes the repair after a loss. */
  readonly repairs: boolean;
  readonly era: number;
}

/** A change whose commit has an unknown outcome. */
type Unsettled = Pick<Turn, 'plans' | 'answers'> & { readonly own: AccountChange };

/**
 * Makes changes in one transaction at a time. A transaction locks the end of the history, reads the changes of other nodes, runs the
 * waiting plans on them, writes, and commits synchronously. Only then are changes applied here, and callers answered.
 */
export class ChangeQueue {
  readonly #shared: Shared;
  readonly #follower: AccountsFollower;
  readonly #watch: CommitWatch;
  /** Plans without a confirmed outcome, in order, including those of the current transaction. */
  readonly #waiting = new Set<WaitingPlan>();
  #unsettled: Unsettled[] = [];
  /** Number of plans to run in separate transactions, because PostgreSQL rejects one of them. */
  #apart = 0;
  #working: Promise<void> | undefined;
  /** Resolves when the changes of the last transaction are applied here. */
  #finishing: Promise<void> = Promise.resolve();
  #repair: Plan<void> | undefined;
  #isClosed = false;

  /** @param watch gets the durations of transactions with changes */
  constructor(shared: Shared, follower: AccountsFollower, watch: CommitWatch) {
    this.#shared = shared;
    this.#follower = follower;
    this.#watch = watch;
  }

  /** @throws {ApiError} `engine_unavailable`, `store_unavailable`, `backpressure` */
  add<T>(plan: Plan<T>): Promise<T> {
    if (this.#isClosed || this.#shared.availability.isDown) return Promise.reject(postgresAway());
    if (this.#waiting.size >= maxWaiting)
      return Promise.reject(new ApiError('backpressure', 'Too many changes wait for PostgreSQL; try again', 1));
    return this.#enqueue(plan);
  }

  /**
   * Resolves once the repair after a loss is done; `undefined` if none is open. PostgreSQL has just answered a read, but counts as away
   * until the repair is done, so `availability` is not checked.
   */
  repaired(): Promise<void> | undefined {
    if (!this.#shared.copy.state.lossOpen) return undefined;
    return this.#isClosed ? Promise.reject(postgresAway()) : this.#enqueue(() => undefined);
  }

  #enqueue<T>(plan: Plan<T>): Promise<T> {
    const waiting = new WaitingPlan(plan, this.#shared.clock.monotonic());
    this.#waiting.add(waiting);
    this.#work();
    return waiting.done as Promise<T>;
  }

  /** Makes the waiting changes, and refuses later ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
  }

  #work(): void {
    if (this.#working !== undefined) return;
    const timer = setInterval(() => this.#refuseOld(), lookEveryMs);
    this.#working = this.#takeTurns().finally(() => {
      clearInterval(timer);
      this.#working = undefined;
      if (this.#waiting.size > 0) this.#work();
    });
  }

  async #takeTurns(): Promise<void> {
    while (this.#waiting.size > 0) if (!(await this.#takeTurn())) await pause(pauseMs);
    this.#unsettled = []; // Those that succeeded are read like any other change.
    await this.#finishing;
  }

  /** @returns whether to continue at once */
  async #takeTurn(): Promise<boolean> {
    const { changes, copy, availability, clock, repair } = this.#shared;
    const began = clock.monotonic();
    let turn: Turn | undefined;
    try {
      if (copy.state.lossOpen) this.#repair ??= await repair();
      await changes.transaction(async (run) => {
        turn = await this.#prepare(run);
        if (turn.statement !== undefined) void run(turn.statement); // Sent with COMMIT, which reports its failure.
      });
    } catch (error) {
      if (turn?.plans.length && isOfData(error)) {
        this.#refusePlan(turn, error);
        return true;
      }
      if (turn !== undefined) this.#keepUnsettled(turn, error);
      if (!(error instanceof LogGap)) availability.failed(error as Error);
      else await this.#follower.replace(error).catch((cause) => availability.failed(cause));
      return false;
    }
    const { own, plans, found, repairs } = turn!;
    if (own !== undefined) this.#watch.took(clock.monotonic() - began, { writes: own.writes.length });
    availability.answered();
    this.#remove([...found.flatMap((known) => known.plans), ...plans]);
    this.#unsettled = []; // This commit confirms that the others failed.
    this.#apart = Math.max(0, this.#apart - plans.length);
    await this.#finishing; // At most one transaction is ahead of this node's disk.
    this.#finishing = this.#finish(turn!);
    if (repairs) await this.#finishing;
    return true;
  }

  async #prepare(run: Run): Promise<Turn> {
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
    return { ...this.#plan(history, below, foreign), era };
  }

  /** Runs the plans on the state in PostgreSQL. */
  #plan(history: History, below: Layer, foreign: readonly AccountChange[]): Omit<Turn, 'era'> {
    const { copy } = this.#shared;
    const found = this.#unsettled.filter(({ own }) => history.entries.some((each) => isSameEntry(each, own)));
    const done = new Set(found.flatMap(({ plans }) => plans));
    const most = this.#apart > 0 ? 1 : maxTogether;
    const plans = [...this.#waiting].filter((plan) => !done.has(plan)).slice(0, most);
    const drafted = new Layer(below);
    const { lossOpen, lossMark = 0 } = copy.state;
    const repairs = this.#repair !== undefined && lossOpen;
    if (repairs && (below.get('numbers', repairMark) ?? 0) <= lossMark) this.#repair!(drafted);
    const answers = plans.map((plan) => plan.run(drafted, copy.canKeep));
    const { change: own, statement } = this.#ownChange(history, drafted) ?? {};
    const changes = own === undefined ? foreign : [...foreign, own];
    return { changes, own, statement, plans, answers, found, repairs };
  }

  #ownChange({ head }: History, drafted: Layer) {
    if (drafted.isEmpty) return undefined;
    const { codec, randomBytes } = this.#shared;
    const { writes } = drafted;
    const records = writes.map((write) => codec.encode(write));
    const id = newLogId(randomBytes);
    const change: AccountChange = { position: head.position + 1, id, writes };
    return { change, statement: writeChange(head, id, codec.encodeChange(records), records) };
  }

  /** Applies a confirmed transaction, and answers, while the next one is running. */
  async #finish({ changes, answers, plans, found, repairs, era }: Turn): Promise<void> {
    try {
      await this.#shared.copy.advance(changes, era, repairs);
      if (repairs) this.#repair = undefined;
      for (const answer of [...found.flatMap((known) => known.answers), ...answers]) answer();
    } catch (error) {
      for (const plan of [...found.flatMap((known) => known.plans), ...plans]) plan.refuse(error);
    }
  }

  /** The outcome is unknown, unless PostgreSQL rejected a statement. The plans wait, and run again. */
  #keepUnsettled({ own, plans, answers }: Turn, error: unknown): void {
    if (error instanceof PostgresError && error.code === 'sql') this.#refuse(plans);
    else if (own !== undefined) this.#unsettled.push({ own, plans, answers });
  }

  /** PostgreSQL rejects the writes of one plan. Runs the plans one by one to find it. */
  #refusePlan({ plans }: Turn, { message, sqlstate }: PostgresError): void {
    if (plans.length > 1) {
      this.#apart = plans.length;
      return;
    }
    this.#shared.log.error('PostgreSQL rejected one change; continuing with the others', { error: message, sqlstate });
    this.#apart = Math.max(0, this.#apart - 1);
    this.#refuse(plans);
  }

  #refuseOld(): void {
    const before = this.#shared.clock.monotonic() - patienceMs;
    this.#refuse([...this.#waiting].filter(({ since }) => since <= before));
  }

  #refuse(plans: readonly WaitingPlan[]): void {
    for (const plan of plans) plan.refuse(postgresAway());
    this.#remove(plans);
  }

  #remove(plans: readonly WaitingPlan[]): void {
    for (const plan of plans) this.#waiting.delete(plan);
  }
}

/** Whether the data is at fault, not the server: invalid data, a constraint, or a program limit. */
function isOfData(error: unknown): error is PostgresError {
  return error instanceof PostgresError && error.code === 'sql' && /^(22|23|54)/.test(error.sqlstate ?? '');
}

/** Marks the spans of PostgreSQL in a trace. */
export const inPostgres: PartOfSpan = { isCall: true, attributes: { 'db.system.name': 'postgresql' } };

/** A plan that waits for a transaction. */
class WaitingPlan {
  /** Monotonic, ms. */
  readonly since: number;
  readonly done: Promise<unknown>;
  readonly #plan: Plan<unknown>;
  readonly #span = currentSpan();
  /** From the end of the plan to the end of the transaction. */
  #commit: Span | undefined;
  #resolve: (value: unknown) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #isSettled = false;

  constructor(plan: Plan<unknown>, since: number) {
    this.#plan = plan;
    this.since = since;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /**
   * Runs the plan on the current draft, and adds its writes.
   * @param canKeep whether the node can store writes
   * @returns a function that answers the caller
   */
  run(drafted: Layer, canKeep: boolean): () => void {
    const draft = new Layer(drafted);
    try {
      const result = inSpan(this.#span, () => this.#plan(draft));
      this.#commit ??= this.#span?.part('commit accounts', inPostgres);
      if (!draft.isEmpty && !canKeep) throw storeAway();
      if (!draft.isEmpty) drafted.write(draft.writes);
      return () => this.#settle(() => this.#resolve(result));
    } catch (error) {
      return () => this.refuse(error);
    }
  }

  refuse(error: unknown): void {
    this.#settle(() => this.#reject(error), error);
  }

  #settle(answer: () => void, error?: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#commit?.end(error);
    answer();
  }
}
