import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, engineAway } from '../errors.ts';
import type { Log } from '../log.ts';
import type { EngineSession } from '../postgres/connection.ts';
import { EngineError } from '../postgres/engine-error.ts';
import { newLogId } from '../postgres/log-id.ts';
import type { SharedClock } from '../postgres/shared-clock.ts';
import type { Run, Statement } from '../postgres/statement.ts';
import type { CommitWatch } from '../store/commit-watch.ts';
import type { AccountChange } from './account-change.ts';
import { type Availability, patienceMs } from './availability.ts';
import type { CatchUp } from './catch-up.ts';
import { changesFrom, changesOf, lockHead, placeOf, timeOf, writeChange } from './control-statements.ts';
import { type Copy, repairMark } from './copy.ts';
import type { Plan } from './engine.ts';
import { changesAfter, type History, has } from './history.ts';
import { Layer } from './layer.ts';
import type { RecordCodec } from './record-codec.ts';
import { WaitingPlan } from './waiting-plan.ts';

export interface ChangeQueueDeps {
  readonly copy: Copy;
  /** For changes only. */
  readonly connection: EngineSession;
  readonly catchUp: CatchUp;
  readonly codec: RecordCodec;
  readonly availability: Availability;
  readonly clock: SharedClock;
  /** Is told what transactions took that changed something. */
  readonly watch: CommitWatch;
  readonly log: Log;
  readonly randomBytes: (length: number) => Uint8Array;
  /** What has to follow from a loss of the engine, as a plan. */
  repair(): Promise<Plan<void>>;
}

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
  /** Those of the plans that run for the first time. */
  readonly fresh: readonly WaitingPlan[];
  /** Those whose change is not in, and that are to run after these plans. */
  readonly later: readonly WaitingPlan[];
  /** Earlier changes that are in. */
  readonly found: readonly Unsettled[];
  /** What follows from a loss is done with it. */
  readonly repairs: boolean;
  /** Of the copy, when this was planned. */
  readonly era: number;
}

/** A change whose commit was not answered: it may be in. */
type Unsettled = Pick<Turn, 'plans' | 'answers'> & { readonly own: AccountChange };

/** The history does not have the place of the copy. */
class NotInHistory extends Error {}

/**
 * Makes changes, one transaction at a time: it locks the end of the history, reads what other nodes have changed, runs the
 * plans that wait on that, writes, and commits synchronously. Only then is anything applied here, or anyone answered.
 */
export class ChangeQueue {
  readonly #deps: ChangeQueueDeps;
  #waiting: WaitingPlan[] = [];
  /** Those of a transaction that is on its way. */
  #underWay: readonly WaitingPlan[] = [];
  #unsettled: Unsettled[] = [];
  /** So many plans are still to run in transactions of their own, because one of them is refused by the engine. */
  #apart = 0;
  #working: Promise<void> | undefined;
  /** The last transaction, whose changes are being applied here. */
  #finishing: Promise<void> = Promise.resolve();
  #repair: Plan<void> | undefined;
  #isClosed = false;

  constructor(deps: ChangeQueueDeps) {
    this.#deps = deps;
  }

  /** @throws {ApiError} `engine_unavailable`, `store_unavailable`, `backpressure` */
  add<T>(plan: Plan<T>): Promise<T> {
    const { availability, clock } = this.#deps;
    if (this.#isClosed || availability.isDown) return Promise.reject(engineAway());
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(
        new ApiError('backpressure', 'Too many changes wait for the engine; try again', 1),
      );
    return this.#enqueue(plan, clock.monotonic());
  }

  /**
   * Resolves once what follows from a loss of the engine is done; `undefined` when nothing is open. It is asked when the engine has
   * just answered a read, and until this is done the engine counts as away: so that is no reason to refuse.
   */
  repaired(): Promise<void> | undefined {
    if (!this.#deps.copy.state.lossOpen) return undefined;
    return this.#isClosed
      ? Promise.reject(engineAway())
      : this.#enqueue(() => undefined, this.#deps.clock.monotonic());
  }

  #enqueue<T>(plan: Plan<T>, at: number): Promise<T> {
    const waiting = new WaitingPlan(plan, at);
    this.#waiting.push(waiting);
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
      if (this.#waiting.length > 0) this.#work();
    });
  }

  async #takeTurns(): Promise<void> {
    while (this.#hasCallers()) if (!(await this.#takeTurn())) await pause(pauseMs);
    this.#unsettled = []; // What of it is in comes as any other change.
    await this.#finishing;
  }

  #hasCallers(): boolean {
    this.#waiting = this.#waiting.filter(({ isSettled }) => !isSettled);
    return (
      this.#waiting.length > 0 ||
      this.#unsettled.some(({ plans }) => plans.some(({ isSettled }) => !isSettled))
    );
  }

  /** @returns whether to go on at once */
  async #takeTurn(): Promise<boolean> {
    const { connection, copy, availability, catchUp, clock, watch } = this.#deps;
    const began = clock.monotonic();
    let turn: Turn | undefined;
    try {
      if (copy.state.lossOpen) this.#repair ??= await this.#deps.repair();
      await connection.transaction(async (run) => {
        turn = await this.#prepare(run);
        if (turn.statement !== undefined) void run(turn.statement); // COMMIT tells, and travels with it.
      });
    } catch (error) {
      this.#underWay = [];
      if (turn?.plans.length && isOfData(error)) {
        this.#refusePlan(turn, error);
        return true;
      }
      if (turn !== undefined) this.#keepUnsettled(turn, error);
      if (!(error instanceof NotInHistory)) availability.failed(error);
      else await catchUp.replace().catch((cause) => availability.failed(cause));
      return false;
    }
    if (turn?.own !== undefined) watch.took(clock.monotonic() - began, { writes: turn.own.writes.length });
    availability.answered();
    this.#unsettled = [];
    this.#waiting.unshift(...turn!.later); // This commit confirms that theirs were not made.
    this.#apart = Math.max(0, this.#apart - turn!.plans.length);
    await this.#finishing; // No more than one transaction is ahead of what the disk of this node has.
    this.#finishing = this.#finish(turn!);
    if (turn!.repairs) await this.#finishing;
    return true;
  }

  async #prepare(run: Run): Promise<Turn> {
    const { copy, catchUp, clock } = this.#deps;
    const { place, era } = copy;
    const oldest = Math.min(place.version, ...this.#unsettled.map(({ own }) => own.version));
    const asked = clock.monotonic();
    const [head, rows] = await Promise.all([run(lockHead), run(changesFrom(oldest))]);
    clock.heard(timeOf(head), asked);
    clock.check();
    const history = { head: placeOf(head), changes: changesOf(rows) };
    const news = copy.hasAllTables ? changesAfter(place, history) : undefined;
    if (news === undefined) throw new NotInHistory();
    const foreign = catchUp.changes(news);
    const below = new Layer(copy);
    for (const { writes } of foreign) for (const write of writes) put(below, write);
    return { ...this.#plan(history, below, foreign), era };
  }

  /** Runs the plans on what the engine has. */
  #plan(history: History, below: Layer, foreign: readonly AccountChange[]): Omit<Turn, 'era'> {
    const found = this.#unsettled.filter(({ own }) => has(history, own));
    const again = this.#plansOnceMore(found);
    const isApart = this.#apart > 0;
    const [first, later] = isApart ? [again.slice(0, 1), again.slice(1)] : [again, []];
    const room = isApart ? 1 - first.length : maxTogether;
    const fresh = this.#waiting.splice(0, room).filter(({ isSettled }) => !isSettled);
    const plans = [...first, ...fresh];
    this.#underWay = plans;
    const drafted = new Layer(below);
    const { lossOpen, lossMark = 0 } = this.#deps.copy.state;
    const repairs = this.#repair !== undefined && lossOpen;
    if (repairs && (below.get('numbers', repairMark) ?? 0) <= lossMark) this.#repair!(drafted);
    const answers = plans.map((plan) => plan.run(drafted, this.#deps.copy.canKeep));
    const { change: own, statement } = this.#ownChange(history, drafted) ?? {};
    const changes = own === undefined ? foreign : [...foreign, own];
    return { changes, own, statement, plans, answers, fresh, later, found, repairs };
  }

  /** A plan whose change is in does not run again; one whose change is not in does. */
  #plansOnceMore(found: readonly Unsettled[]): readonly WaitingPlan[] {
    const done = new Set(found.flatMap(({ plans }) => plans));
    const all = new Set(this.#unsettled.flatMap(({ plans }) => plans));
    return [...all].filter((plan) => !done.has(plan) && !plan.isSettled);
  }

  #ownChange({ head }: History, drafted: Layer) {
    if (drafted.isEmpty) return undefined;
    const { codec, randomBytes } = this.#deps;
    const { writes } = drafted;
    const records = writes.map((write) => codec.encode(write));
    const id = newLogId(randomBytes);
    const change: AccountChange = { version: head.version + 1, id, writes };
    return { change, statement: writeChange(head, id, codec.encodeChange(records), records) };
  }

  /** Applies what a transaction has confirmed, while the next one is on its way, and answers. */
  async #finish({ changes, answers, plans, found, repairs, era }: Turn): Promise<void> {
    try {
      await this.#deps.copy.advance(changes, era, repairs);
      if (repairs) this.#repair = undefined;
      for (const answer of [...found.flatMap((known) => known.answers), ...answers]) answer();
    } catch (error) {
      for (const plan of [...found.flatMap((known) => known.plans), ...plans]) plan.refuse(error);
    }
  }

  /** What a transaction came to is unknown, unless the engine has refused a statement. */
  #keepUnsettled({ own, plans, answers, fresh }: Turn, error: unknown): void {
    if (error instanceof EngineError && error.code === 'sql')
      for (const plan of plans) plan.refuse(engineAway());
    else if (own !== undefined) this.#unsettled.push({ own, plans, answers });
    else this.#waiting.unshift(...fresh);
  }

  /** The engine refuses what some plan writes: which one is found by running them one by one. */
  #refusePlan({ plans, fresh }: Turn, error: EngineError): void {
    if (plans.length > 1) {
      this.#apart = plans.length;
      this.#waiting.unshift(...fresh);
      return;
    }
    const { message, sqlstate } = error;
    this.#deps.log.error('the engine refuses a change; others are made', { error: message, sqlstate });
    this.#apart = Math.max(0, this.#apart - 1);
    for (const plan of plans) plan.refuse(engineAway());
  }

  #refuseOld(): void {
    const before = this.#deps.clock.monotonic() - patienceMs;
    const all = [this.#waiting, this.#underWay, ...this.#unsettled.map(({ plans }) => plans)];
    for (const plan of all.flat()) if (plan.since <= before) plan.refuse(engineAway());
  }
}

function put(layer: Layer, { table, key, value }: AccountChange['writes'][number]): void {
  if (value === undefined) layer.remove(table, key);
  else layer.put(table, key, value);
}

/** What was written is at fault, and not the server: invalid data, a constraint, a limit of the server's. */
function isOfData(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === 'sql' && /^(22|23|54)/.test(error.sqlstate ?? '');
}
