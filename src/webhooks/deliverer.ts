import type { Directory } from '../accounts/directory.ts';
import { newId } from '../accounts/secrets.ts';
import type { Engine, Write } from '../accounts/store/engine.ts';
import { tellFailure } from '../runtime/background-failure.ts';
import type { Log } from '../runtime/log.ts';
import type { Span } from '../runtime/spans.ts';
import type { Webhook, WebhookDelivery, WebhookTurn } from '../storage/lmdb/webhook-records.ts';
import { webhookIn } from './queue.ts';
import { mostOfOne, Rooms } from './rooms.ts';
import type { Outcome } from './send.ts';
import { type Claimed, claim, isFree, release, settle, type Turn } from './turns.ts';

export interface DelivererDeps {
  readonly engine: Engine;
  /** Its changes are the service's own. */
  readonly directory: Directory;
  readonly log: Log;
  /** Makes one attempt. */
  readonly send: Send;
}

/** See `send`. */
export type Send = (
  webhook: Pick<Webhook, 'url' | 'secrets'>,
  delivery: Pick<WebhookDelivery, 'id' | 'body'>,
  now: number,
  stop: AbortSignal,
  traceparent: string | undefined,
) => Promise<Outcome>;

/** Begins the span of an attempt, if that is traced. */
export type TraceDelivery = (
  delivery: Pick<WebhookDelivery, 'id' | 'webhookId' | 'cause'>,
) => Span | undefined;

/** Resolves after `ms`; false when the service is stopping. */
type Pause = (ms: number) => Promise<boolean>;

/** How often it is looked for deliveries whose time has come, ms. New ones are looked for at once. */
const lookEveryMs = 1000;
/** What comes within so many ms is claimed together. */
const gatherMs = 20;
/** Looking takes the longer the more waits: of so many parts of the time it may take one. */
const lookShare = 10;
/** How long what has failed keeps its room, ms: a receiver that fails at once, with much that waits, is not called without a pause. */
const restMs = 1000;
/** After a change was refused, ms. */
const tryAgainMs = 1000;

/** Counts since the start of the process. */
export interface DeliveryCounts {
  delivered: number;
  /** Attempts that failed. */
  failed: number;
}

/**
 * Delivers what is queued, for as long as the service runs. Who has claimed a delivery makes one attempt; a claim is a change of
 * the accounts, so of several nodes one has it.
 */
export class Deliverer {
  readonly counts: DeliveryCounts = { delivered: 0, failed: 0 };
  readonly #deps: DelivererDeps;
  /** Of this process: one that was killed and started again is another. */
  readonly #node: string;
  readonly #rooms = new Rooms();
  readonly #stop = new AbortController();
  readonly #onTheirWay = new Map<string, Promise<void>>();
  #turns = 0;
  /** The last turn of each webhook for which something waits. */
  #lastTurns: Map<string, number> = new Map();
  /** What the last look took. */
  #lookedMs = 0;
  #trace: TraceDelivery = () => undefined;
  #isWoken = false;
  #goOn = () => {};
  #pause: Pause = async () => false;

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    this.#node = newId('process', deps.directory.randomBytes);
    deps.engine.onCommit((writes) => {
      if (writes.some(isForUs)) this.#wake();
    });
  }

  /** Has attempts traced from now on. */
  traceBy(trace: TraceDelivery): void {
    this.#trace = trace;
  }

  /** Deliveries that wait, on whatever node they were queued. */
  get waiting(): number {
    return this.#deps.engine.records('webhookTurns').size;
  }

  /** Resolves when the service is stopping and all that is on its way has ended. */
  async run(pause: Pause): Promise<void> {
    this.#pause = pause;
    do await this.look();
    while (await this.#rest());
    this.#stop.abort();
    await this.settled();
  }

  /** Begins what can be begun now. */
  async look(): Promise<void> {
    const { clock } = this.#deps.directory;
    const since = clock.monotonic();
    const keys = this.#choose();
    this.#lookedMs = clock.monotonic() - since;
    if (keys.size === 0) return;
    const claimed = await this.#claim(keys);
    for (const [key, giveBack] of keys) {
      const one = claimed.find((each) => each.key === key);
      if (one === undefined) giveBack();
      else this.#begin(one, giveBack);
    }
  }

  /** Resolves when nothing is on its way. */
  async settled(): Promise<void> {
    await Promise.all(this.#onTheirWay.values());
  }

  #turn(): Turn {
    const { engine, directory } = this.#deps;
    const alone = engine.status().kind === 'embedded';
    return { node: this.#node, alone, now: directory.clock.now() };
  }

  /**
   * The deliveries whose time has come and for which there is room: the longest waiting of each webhook, then the next of each. The
   * webhook whose turn is the longest ago comes first, so that none waits for ever while there is room for some only.
   */
  #choose(): Map<string, () => void> {
    const { directory } = this.#deps;
    const chosen = new Map<string, () => void>();
    const firsts = this.#firstsOfEach();
    const turn = (id: string) => this.#lastTurns.get(id) ?? 0;
    const ids = [...firsts.keys()].sort((a, b) => turn(a) - turn(b));
    this.#lastTurns = new Map(ids.map((id) => [id, turn(id)]));
    for (let rank = 0; rank < mostOfOne; rank += 1)
      for (const id of ids) {
        const next = firsts.get(id)?.[rank];
        const webhook = directory.webhooks.get(id) ?? { id, teamId: '', failingSince: null };
        const giveBack = next && this.#rooms.take(webhook);
        if (giveBack === undefined) continue;
        chosen.set(next!.key, giveBack);
        this.#turns += 1;
        this.#lastTurns.set(id, this.#turns);
      }
    return chosen;
  }

  /** Of each webhook as many as there can be room for. Everything that waits is looked at, so nothing is made for it here. */
  #firstsOfEach(): Map<string, Due[]> {
    const by = this.#turn();
    const firsts = new Map<string, Due[]>();
    for (const [key, turn] of this.#deps.engine.records('webhookTurns')) {
      if (!isFree(turn, by) || this.#onTheirWay.has(key)) continue;
      const id = webhookIn(key);
      const own = firsts.get(id);
      if (own === undefined) firsts.set(id, [{ key, due: turn.due }]);
      else keepFirst(own, key, turn.due);
    }
    return firsts;
  }

  async #claim(keys: ReadonlyMap<string, () => void>): Promise<readonly Claimed[]> {
    try {
      return await this.#deps.directory.change((draft) => claim(draft, [...keys.keys()], this.#turn()));
    } catch (error) {
      this.#deps.log.debug('deliveries of webhooks could not be claimed', { error });
      return [];
    }
  }

  #begin(claimed: Claimed, giveBack: () => void): void {
    const done = this.#deliver(claimed).then(({ error }) => {
      this.#onTheirWay.delete(claimed.key);
      if (error === null) this.#makeRoom(giveBack);
      else void this.#pause(restMs).then(() => this.#makeRoom(giveBack));
    });
    this.#onTheirWay.set(claimed.key, done);
  }

  #makeRoom(giveBack: () => void): void {
    giveBack();
    this.#wake();
  }

  async #deliver({ key, webhook, delivery }: Claimed): Promise<Outcome> {
    const { directory, send } = this.#deps;
    const { clock, randomBytes } = directory;
    const [at, since] = [clock.now(), clock.monotonic()];
    const span = this.#trace(delivery);
    const outcome = await send(webhook, delivery, at, this.#stop.signal, span?.traceparent);
    span?.end(outcome.error === null ? undefined : String(outcome.status ?? 'no_answer'));
    const tried = { outcome, at, ms: Math.round(clock.monotonic() - since) };
    const isCut = outcome.error !== null && this.#stop.signal.aborted;
    if (!isCut) this.#count(webhook.id, delivery.id, outcome);
    await this.#keep((draft) => {
      if (isCut) release(draft, key, this.#turn());
      else settle(draft, key, tried, { ...this.#turn(), randomBytes });
    });
    return outcome;
  }

  /** While the accounts cannot be changed it is tried again, until another may deliver it: then it comes twice, and never not at all. */
  async #keep(plan: Parameters<Directory['change']>[0]): Promise<void> {
    for (let tries = 0; tries < 30; tries += 1) {
      try {
        await this.#deps.directory.change(plan);
        return;
      } catch (error) {
        tellFailure(this.#deps.log, 'what came of a delivery of a webhook could not be kept', error);
        if (!(await this.#pause(tryAgainMs))) return;
      }
    }
  }

  #count(webhookId: string, delivery: string, { status, error }: Outcome): void {
    if (error === null) this.counts.delivered += 1;
    else this.counts.failed += 1;
    this.#deps.log.debug('a webhook was called', { webhookId, delivery, status, error });
  }

  #wake(): void {
    this.#isWoken = true;
    this.#goOn();
  }

  /** Until something is to be done; false when the service is stopping. */
  async #rest(): Promise<boolean> {
    if (!this.#isWoken) {
      const woken = new Promise<boolean>((resolve) => {
        this.#goOn = () => resolve(true);
      });
      if (!(await Promise.race([woken, this.#pause(lookEveryMs)]))) return false;
    }
    this.#isWoken = false;
    return this.#pause(Math.max(gatherMs, this.#lookedMs * lookShare));
  }
}

/** Whether a write may have brought something to do: a claim has not. */
function isForUs({ table, value }: Write): boolean {
  return table === 'webhookTurns' && (value as WebhookTurn | undefined)?.lease == null;
}

interface Due {
  readonly key: string;
  readonly due: number;
}

/** Adds to the first of a webhook's deliveries, in their order, unless it comes after all of them: there is room for no more at once. */
function keepFirst(firsts: Due[], key: string, due: number): void {
  if (firsts.length === mostOfOne && due >= firsts[mostOfOne - 1]!.due) return;
  const after = firsts.findIndex((one) => due < one.due);
  firsts.splice(after < 0 ? firsts.length : after, 0, { key, due });
  firsts.length = Math.min(firsts.length, mostOfOne);
}
