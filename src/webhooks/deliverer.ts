import type { Directory } from '../accounts/directory.ts';
import { newId } from '../accounts/secrets.ts';
import type { AccountStore, Write } from '../accounts/store/account-store.ts';
import { logFailure } from '../runtime/failures.ts';
import type { Log } from '../runtime/log.ts';
import type { Span } from '../runtime/spans.ts';
import type { QueuedDelivery, Webhook, WebhookDelivery } from '../storage/lmdb/records.ts';
import { type Claimant, type ClaimedDelivery, claim, isFree, release, settle } from './claims.ts';
import { formatBody } from './formats/formats.ts';
import { webhookIn } from './queue.ts';
import type { Receiver, SendResult } from './send.ts';

interface DelivererDeps {
  readonly accountStore: AccountStore;
  /** The directory, whose changes are recorded with the service as the actor. */
  readonly directory: Directory;
  readonly log: Log;
  readonly send: Send;
}

export type Send = (
  webhook: Receiver,
  delivery: Pick<WebhookDelivery, 'id' | 'body'>,
  now: number,
  stop: AbortSignal,
  traceparent: string | undefined,
) => Promise<SendResult>;

export type TraceDelivery = (delivery: Pick<WebhookDelivery, 'id' | 'webhookId' | 'cause'>) => Span | undefined;

/** Resolves after `ms`; `false` if the service is stopping. */
type Pause = (ms: number) => Promise<boolean>;

/** Poll interval for due deliveries, ms. New deliveries are found immediately. */
const pollMs = 1000;
/** Deliveries that are due within this time are claimed together, ms. */
const gatherMs = 20;
/** Pause after a scan of the queue, as a multiple of the scan's duration, which grows with the queue. */
const scanShare = 10;
/** Time for which a failed attempt keeps its slot, ms. A receiver that fails fast therefore gets few calls. */
const restMs = 1000;
/** Pause after the store has rejected a change of the queue, ms. */
const retryMs = 1000;

/** Delivers queued events. A node first claims a delivery in the account store, so only one node makes each attempt. */
export class Deliverer {
  /** Number of attempts since the start of the process. */
  readonly counts = { delivered: 0, failed: 0 };
  readonly #deps: DelivererDeps;
  /** Identifies this process. A restarted process has another id. */
  readonly #node: string;
  readonly #slots = new Slots();
  readonly #stop = new AbortController();
  readonly #inProgress = new Map<string, Promise<void>>();
  #attempts = 0;
  /** Sequence number of the last attempt of each webhook with pending deliveries, by webhook id. */
  #lastAttempts: Map<string, number> = new Map();
  #scanMs = 0;
  #trace: TraceDelivery = () => undefined;
  #consoleUrl = '';
  #isWoken = false;
  #goOn = () => {};
  #pause: Pause = async () => false;

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    this.#node = newId('process', deps.directory.randomBytes);
    deps.accountStore.onCommit((writes) => {
      if (writes.some(isForUs)) this.#wake();
    });
  }

  traceBy(trace: TraceDelivery): void {
    this.#trace = trace;
  }

  linkTo(consoleUrl: string): void {
    this.#consoleUrl = consoleUrl;
  }

  /** Number of pending deliveries, from all nodes. */
  get waiting(): number {
    return this.#deps.accountStore.records('webhookTurns').size;
  }

  /** Resolves when the service is stopping and all attempts have ended. */
  async run(pause: Pause): Promise<void> {
    this.#pause = pause;
    do await this.look();
    while (await this.#rest());
    this.#stop.abort();
    await this.settled();
  }

  /** Starts all attempts that can start now. */
  async look(): Promise<void> {
    const { clock } = this.#deps.directory;
    const since = clock.monotonic();
    const keys = this.#choose();
    this.#scanMs = clock.monotonic() - since;
    if (keys.size === 0) return;
    const claimed = await this.#claim(keys);
    for (const [key, free] of keys) {
      const one = claimed.find((each) => each.key === key);
      if (one === undefined) free();
      else this.#begin(one, free);
    }
  }

  /** Resolves when no attempt is in progress. */
  async settled(): Promise<void> {
    await Promise.all(this.#inProgress.values());
  }

  #claimant(): Claimant {
    const { accountStore, directory } = this.#deps;
    const alone = accountStore.status().kind === 'embedded';
    return { node: this.#node, alone, now: directory.clock.now() };
  }

  /**
   * Chooses due deliveries for the free concurrency slots: the oldest delivery of each webhook, then the second oldest,
   * and so on. The least recently served webhook comes first, so that no webhook starves.
   */
  #choose(): Map<string, () => void> {
    const { directory } = this.#deps;
    const chosen = new Map<string, () => void>();
    const firsts = this.#firstsOfEach();
    const lastAttempt = (id: string) => this.#lastAttempts.get(id) ?? 0;
    const ids = [...firsts.keys()].sort((a, b) => lastAttempt(a) - lastAttempt(b));
    this.#lastAttempts = new Map(ids.map((id) => [id, lastAttempt(id)]));
    for (let rank = 0; rank < mostPerWebhook; rank += 1)
      for (const id of ids) {
        const next = firsts.get(id)?.[rank];
        const webhook = directory.webhooks.get(id) ?? { id, teamId: '', failingSince: null };
        const free = next && this.#slots.take(webhook);
        if (free === undefined) continue;
        chosen.set(next!.key, free);
        this.#attempts += 1;
        this.#lastAttempts.set(id, this.#attempts);
      }
    return chosen;
  }

  /** Scans the whole queue for up to `mostPerWebhook` due deliveries per webhook. Further deliveries stay on disk. */
  #firstsOfEach(): Map<string, Due[]> {
    const by = this.#claimant();
    const firsts = new Map<string, Due[]>();
    for (const [key, schedule] of this.#deps.accountStore.records('webhookTurns')) {
      if (!isFree(schedule, by) || this.#inProgress.has(key)) continue;
      const id = webhookIn(key);
      const own = firsts.get(id);
      if (own === undefined) firsts.set(id, [{ key, due: schedule.due }]);
      else keepFirst(own, key, schedule.due);
    }
    return firsts;
  }

  async #claim(keys: ReadonlyMap<string, () => void>): Promise<readonly ClaimedDelivery[]> {
    try {
      return await this.#deps.directory.change((tx) => claim(tx, [...keys.keys()], this.#claimant()));
    } catch (error) {
      this.#deps.log.debug('claiming webhook deliveries failed', { error });
      return [];
    }
  }

  #begin(claimed: ClaimedDelivery, free: () => void): void {
    const done = this.#deliver(claimed).then(({ error }) => {
      this.#inProgress.delete(claimed.key);
      if (error === null) this.#freeSlot(free);
      else void this.#pause(restMs).then(() => this.#freeSlot(free));
    });
    this.#inProgress.set(claimed.key, done);
  }

  #freeSlot(free: () => void): void {
    free();
    this.#wake();
  }

  async #deliver({ key, webhook, delivery }: ClaimedDelivery): Promise<SendResult> {
    const { directory, send } = this.#deps;
    const { clock, randomBytes } = directory;
    const at = clock.now();
    const since = clock.monotonic();
    const span = this.#trace(delivery);
    const { id } = delivery;
    const body = formatBody(webhook, delivery, this.#consoleUrl);
    const result = await send(webhook, { id, body }, at, this.#stop.signal, span?.traceparent);
    span?.end(result.error === null ? undefined : String(result.status ?? 'no_answer'));
    const tried = { result, body, at, ms: Math.round(clock.monotonic() - since) };
    const isCut = result.error !== null && this.#stop.signal.aborted;
    if (!isCut) this.#count(webhook.id, id, result);
    await this.#keep((tx) => {
      if (isCut) release(tx, key, this.#claimant());
      else settle(tx, key, tried, { ...this.#claimant(), randomBytes });
    });
    return result;
  }

  /** Retries the change that records a result. If the claim expires first, another process repeats the delivery. */
  async #keep(change: Parameters<Directory['change']>[0]): Promise<void> {
    for (let tries = 0; tries < 30; tries += 1) {
      try {
        await this.#deps.directory.change(change);
        return;
      } catch (error) {
        logFailure(this.#deps.log, 'recording the result of a webhook delivery failed; retrying', error);
        if (!(await this.#pause(retryMs))) return;
      }
    }
  }

  #count(webhookId: string, delivery: string, { status, error }: SendResult): void {
    if (error === null) this.counts.delivered += 1;
    else this.counts.failed += 1;
    this.#deps.log.debug('called a webhook', { webhookId, delivery, status, error });
  }

  #wake(): void {
    this.#isWoken = true;
    this.#goOn();
  }

  /** Waits until there is work; returns `false` if the service is stopping. */
  async #rest(): Promise<boolean> {
    if (!this.#isWoken) {
      const woken = new Promise<boolean>((resolve) => {
        this.#goOn = () => resolve(true);
      });
      if (!(await Promise.race([woken, this.#pause(pollMs)]))) return false;
    }
    this.#isWoken = false;
    return this.#pause(Math.max(gatherMs, this.#scanMs * scanShare));
  }
}

/** True if a write can make a delivery due. The write of a claim cannot do this. */
function isForUs({ table, value }: Write): boolean {
  return table === 'webhookTurns' && (value as QueuedDelivery | undefined)?.lease == null;
}

interface Due {
  readonly key: string;
  readonly due: number;
}

/**
 * Inserts a delivery into the sorted list of the earliest deliveries of its webhook. A full list drops the latest
 * delivery.
 */
function keepFirst(firsts: Due[], key: string, due: number): void {
  if (firsts.length === mostPerWebhook && due >= firsts[mostPerWebhook - 1]!.due) return;
  const after = firsts.findIndex((one) => due < one.due);
  firsts.splice(after < 0 ? firsts.length : after, 0, { key, due });
  firsts.length = Math.min(firsts.length, mostPerWebhook);
}

/** Maximum numbers of concurrent attempts. They limit the effect of receivers that do not respond. */
const most = { all: 64, failing: 24, team: 8, failingOfTeam: 4, webhook: 4, failingWebhook: 1 };

/** Maximum number of concurrent attempts per webhook. */
const mostPerWebhook = most.webhook;

/** The concurrency slots in use, counted in total, per team and per webhook. */
class Slots {
  #all = 0;
  #failing = 0;
  readonly #teams = new Map<string, number>();
  readonly #failingOfTeams = new Map<string, number>();
  readonly #webhooks = new Map<string, number>();

  /** @returns a function that frees the slot; `undefined` if no slot is free */
  take({ id, teamId, failingSince }: Pick<Webhook, 'id' | 'teamId' | 'failingSince'>): (() => void) | undefined {
    const isFailing = failingSince !== null;
    const own = this.#webhooks.get(id) ?? 0;
    if (this.#all >= most.all || (this.#teams.get(teamId) ?? 0) >= most.team) return undefined;
    if (own >= (isFailing ? most.failingWebhook : most.webhook)) return undefined;
    if (isFailing && this.#failing >= most.failing) return undefined;
    if (isFailing && (this.#failingOfTeams.get(teamId) ?? 0) >= most.failingOfTeam) return undefined;
    const add = (by: number) => {
      this.#all += by;
      if (isFailing) this.#failing += by;
      if (isFailing) addTo(this.#failingOfTeams, teamId, by);
      addTo(this.#teams, teamId, by);
      addTo(this.#webhooks, id, by);
    };
    add(1);
    return () => add(-1);
  }
}

function addTo(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
