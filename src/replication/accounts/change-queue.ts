import { setTimeout as pause } from 'node:timers/promises';
import type { Plan } from '../../accounts/store/account-store.ts';
import { Layer } from '../../accounts/store/layer.ts';
import { ApiError, postgresAway } from '../../contract/errors.ts';
import type { CommitWatch } from '../../storage/lmdb/commit-watch.ts';
import { LogGap } from '../postgres/follower.ts';
import { isSameEntry, newLogId } from '../postgres/log-position.ts';
import { PostgresError } from '../postgres/postgres-error.ts';
import type { Run, Statement } from '../postgres/statement.ts';
import { type AccountsFollower, patienceMs, type Shared } from './accounts-follower.ts';
import { type History, lockHistory, writeChange } from './control-statements.ts';
import { repairMark } from './copy.ts';
import type { AccountChange } from './record-codec.ts';
import { WaitingPlan } from './waiting-plan.ts';

/** Plans that wait. Each holds a request, so they are bounded like those. */
const maxWaiting = 10_000;
/** Plans of one transaction: they hold the event loop, and the lock that the other nodes wait for. */
const maxTogether = 500;
/** Between two tries. */
const pauseMs = 50;
/** How often is looked for who has waited too long. */
const lookEveryMs = 250;

/** What one transaction does. */
interface Turn {
  /** What the copy lacks, and then the own change, if there is one. */
  readonly changes: readonly AccountChange[];
  readonly own: AccountChange | undefined;
  readonly statement: Statement | undefined;
  /** The plans that it runs. */
  readonly plans: readonly WaitingPlan[];
  /** Answer their callers; each is called when the transaction is confirmed. */
  readonly answers: readonly (() => void)[];
  /** Earlier changes that are in. */
  readonly found: readonly Unsettled[];
  /** What follows from a loss is done with it. */
  readonly repairs: boolean;
  /** Of the copy, when this was planned. */
  readonly era: number;
}

/** A change whose commit was not answered: it may be in. */
type Unsettled = Pick<Turn, 'plans' | 'answers'> & { readonly own: AccountChange };

/**
 * Makes changes, one transaction at a time: it locks the end of the history, reads what other nodes have changed, runs the
 * plans that wait on that, writes, and commits synchronously. Only then is anything applied here, or anyone answered.
 */
export class ChangeQueue {
  readonly #shared: Shared;
  readonly #follower: AccountsFollower;
  readonly #watch: CommitWatch;
  /** Plans without a confirmed outcome, in their order: also those of the transaction that is on its way. */
  readonly #waiting = new Set<WaitingPlan>();
  #unsettled: Unsettled[] = [];
  /** So many plans are still to run in transactions of their own, because one of them is refused by the engine. */
  #apart = 0;
  #working: Promise<void> | undefined;
  /** The last transaction, whose changes are being applied here. */
  #finishing: Promise<void> = Promise.resolve();
  #repair: Plan<void> | undefined;
  #isClosed = false;

  /** @param watch is told what transactions took that changed something */
  constructor(shared: Shared, follower: AccountsFollower, watch: CommitWatch) {
    this.#shared = shared;
    this.#follower = follower;
    this.#watch = watch;
  }

  /** @throws {ApiError} `engine_unavailable`, `store_unavailable`, `backpressure` */
  add<T>(plan: Plan<T>): Promise<T> {
    if (this.#isClosed || this.#shared.availability.isDown) return Promise.reject(postgresAway());
    if (this.#waiting.size >= maxWaiting)
      return Promise.reject(
        new ApiError('backpressure', 'Too many changes wait for the engine; try again', 1),
      );
    return this.#enqueue(plan);
  }

  /**
   * Resolves once what follows from a loss of the engine is done; `undefined` when nothing is open. It is asked when the engine has
   * just answered a read, and until this is done the engine counts as away: so that is no reason to refuse.
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

  /** Makes the changes that wait; later ones are refused. */
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
    this.#unsettled = []; // What of it is in comes as any other change.
    await this.#finishing;
  }

  /** @returns whether to go on at once */
  async #takeTurn(): Promise<boolean> {
    const { changes, copy, availability, clock, repair } = this.#shared;
    const began = clock.monotonic();
    let turn: Turn | undefined;
    try {
      if (copy.state.lossOpen) this.#repair ??= await repair();
      await changes.transaction(async (run) => {
        turn = await this.#prepare(run);
        if (turn.statement !== undefined) void run(turn.statement); // COMMIT tells, and travels with it.
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
    this.#unsettled = []; // This commit confirms that the others were not made.
    this.#apart = Math.max(0, this.#apart - plans.length);
    await this.#finishing; // No more than one transaction is ahead of what the disk of this node has.
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

  /** Runs the plans on what the engine has. */
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

  /** Applies what a transaction has confirmed, while the next one is on its way, and answers. */
  async #finish({ changes, answers, plans, found, repairs, era }: Turn): Promise<void> {
    try {
      await this.#shared.copy.advance(changes, era, repairs);
      if (repairs) this.#repair = undefined;
      for (const answer of [...found.flatMap((known) => known.answers), ...answers]) answer();
    } catch (error) {
      for (const plan of [...found.flatMap((known) => known.plans), ...plans]) plan.refuse(error);
    }
  }

  /** What a transaction came to is unknown, unless the engine has refused a statement. Its plans still wait, and run again. */
  #keepUnsettled({ own, plans, answers }: Turn, error: unknown): void {
    if (error instanceof PostgresError && error.code === 'sql') this.#refuse(plans);
    else if (own !== undefined) this.#unsettled.push({ own, plans, answers });
  }

  /** The engine refuses what some plan writes: which one is found by running them one by one. */
  #refusePlan({ plans }: Turn, { message, sqlstate }: PostgresError): void {
    if (plans.length > 1) {
      this.#apart = plans.length;
      return;
    }
    this.#shared.log.error('the engine refuses a change; others are made', { error: message, sqlstate });
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

/** What was written is at fault, and not the server: invalid data, a constraint, a limit of the server's. */
function isOfData(error: unknown): error is PostgresError {
  return error instanceof PostgresError && error.code === 'sql' && /^(22|23|54)/.test(error.sqlstate ?? '');
}
