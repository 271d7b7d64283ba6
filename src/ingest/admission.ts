import type { KeyHolder } from '../accounts/key-index.ts';
import { Refusal, storeUnavailable } from '../contract/errors.ts';
import { findNetwork } from '../runtime/addresses.ts';
import type { Clock } from '../runtime/clock.ts';
import type { QueueMonitor } from '../storage/commit/queue-monitor.ts';
import type { UsageStore } from '../storage/commit/usage-store.ts';
import type { StoreHealth } from '../storage/lmdb/store-health.ts';
import type { LargeBodies } from './admission/large-bodies.ts';
import { type LimitedApplication, type RateLimits, tokensFor, type UnknownSenders } from './admission/rate-limits.ts';

export interface AdmissionDeps {
  readonly clock: Clock;
  readonly monitor: QueueMonitor;
  readonly rates: RateLimits;
  /** Limits for large bodies whose sender has no known key. */
  readonly unknown: UnknownSenders;
  readonly health: Pick<StoreHealth, 'ready'>;
  readonly usage: Pick<UsageStore, 'refusal'>;
  readonly bodies: LargeBodies;
  /** Processes the results of finished commits. This can free room in the queue. */
  collect(): void;
}

/** @returns the current monotonic time @throws {Refusal} `store_unavailable`, `spool_full` or `backpressure` */
export function admit({ health, usage, monitor, clock, collect }: AdmissionDeps): number {
  if (!health.ready) throw unavailable;
  const refusal = usage.refusal();
  if (refusal !== undefined) throw refusal;
  collect();
  const now = clock.monotonic();
  if (!monitor.admits(now)) throw backpressure(monitor.retryAfter(now));
  return now;
}

/** Calls `admit`. Also refuses messages of an application that fills the queue while others send. @throws {Refusal} */
export function admitApplication(deps: AdmissionDeps, { application }: KeyHolder): number {
  const now = admit(deps);
  if (!deps.monitor.admitsApplication(application.number, now)) throw backpressure(deps.monitor.retryAfter(now));
  return now;
}

const unavailable = new Refusal('store_unavailable', storeUnavailable.notReady, 5);

/** Errors by `Retry-After` seconds. They are cached because creating an error would dominate the cost of a refusal. */
const busy: Refusal[] = [];

function backpressure(seconds: number): Refusal {
  busy[seconds] ??= new Refusal('backpressure', 'Too many messages are waiting for the disk', seconds);
  return busy[seconds];
}

/** Charges a body that has no `Payer` to the rate limit. @param now monotonic ms @throws {Refusal} `rate_limited` */
export function chargeSmall(
  { bodies, rates }: AdmissionDeps,
  { application }: KeyHolder,
  bytes: number,
  now: number,
): void {
  if (bytes <= bodies.free) refuseUntil(rates.take(application, now, bytes));
}

/** @param wait seconds until there are enough tokens; 0 if there are enough now */
function refuseUntil(wait: number): void {
  if (wait > 0) throw new Refusal('rate_limited', 'The sender exceeds its rate limit', wait);
}

const entriesPerToken = 32;

/**
 * Charges a large body to the application whose key is at its beginning, or else to the sender's network. Received
 * bytes are charged before they are decompressed or decoded, because this work delays other messages even if the body
 * is refused. The rest of the cost is charged once it is known.
 */
export class Payer {
  /** Name of the sender in whose queue this body waits. */
  readonly name: string;
  readonly #deps: AdmissionDeps;
  readonly #application: LimitedApplication | undefined;
  readonly #address: string;
  #paid = 0;

  constructor(deps: AdmissionDeps, holder: KeyHolder | undefined, address: string) {
    this.#deps = deps;
    this.#application = holder?.application;
    this.#address = address;
    this.name = holder === undefined ? `network ${findNetwork(address)}` : `${holder.application.number}`;
  }

  /** Pays for the received bytes. @throws {Refusal} `rate_limited` */
  pay(bytes: number): void {
    this.check(bytes);
    this.owe(bytes);
  }

  /** Checks that `pay` would succeed now. @throws {Refusal} `rate_limited` */
  check(bytes: number): void {
    const { rates, unknown, clock } = this.#deps;
    const now = clock.monotonic();
    const application = this.#application;
    const wait =
      application === undefined
        ? unknown.wait(this.#address, now, tokensFor(bytes))
        : rates.wait(application, now, bytes);
    refuseUntil(wait);
  }

  /** Charges the rest of a body's cost, even if this leaves a debt. @param entries number of entries in the body */
  owe(bytes: number, entries = 0): void {
    const { rates, unknown, clock } = this.#deps;
    const cost = Math.max(tokensFor(bytes), Math.ceil(entries / entriesPerToken));
    const owed = cost - this.#paid;
    if (owed <= 0) return;
    this.#paid = cost;
    const now = clock.monotonic();
    if (this.#application === undefined) unknown.owe(this.#address, now, owed);
    else rates.owe(this.#application, now, owed);
  }
}

/** Refusal of every message that arrives before the service is ready. */
export const notStarted = new Refusal('store_unavailable', 'The service is starting', 1);
