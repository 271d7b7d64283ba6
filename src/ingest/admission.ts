import type { KeyHolder } from '../accounts/key-holder.ts';
import type { LargeBodies } from '../admission/large-bodies.ts';
import type { QueueMonitor } from '../admission/queue-monitor.ts';
import type { RateLimited, RateLimits } from '../admission/rate-limits.ts';
import type { Clock } from '../clock.ts';
import type { UsageEngine } from '../commit/usage-engine.ts';
import { ApiError, storeUnavailable } from '../errors.ts';
import type { StoreHealth } from '../store/store-health.ts';

/** What decides whether a message is let in. */
export interface AdmissionDeps {
  readonly clock: Clock;
  readonly monitor: QueueMonitor;
  readonly rates: RateLimits;
  readonly health: StoreHealth;
  readonly usage: Pick<UsageEngine, 'refusal'>;
  readonly bodies: LargeBodies;
  /** Settles commits that have finished, which may have made room in the queue. */
  collect(): void;
}

/** @throws {ApiError} `store_unavailable`, `spool_full` or `backpressure`: nothing can be taken now */
export function admit({ health, usage, monitor, clock, collect }: AdmissionDeps): void {
  if (!health.ready) throw unavailable;
  const refusal = usage.refusal();
  if (refusal !== undefined) throw refusal;
  collect();
  const now = clock.monotonic();
  if (!monitor.admits(now)) throw backpressure(monitor.retryAfter(now));
}

/** As `admit`, for one application: while others send too, the one that fills the queue is refused first. @throws {ApiError} */
export function admitOf(deps: AdmissionDeps, { application }: KeyHolder): void {
  admit(deps);
  const now = deps.clock.monotonic();
  if (!deps.monitor.admitsOf(application.number, now)) throw backpressure(deps.monitor.retryAfter(now));
}

const unavailable = new ApiError('store_unavailable', storeUnavailable.notReady, 5);

/** Errors by their seconds to wait, of which there are few. Creating an error would be the largest cost of a refusal. */
const busy: ApiError[] = [];

function backpressure(seconds: number): ApiError {
  busy[seconds] ??= new ApiError('backpressure', 'Too much is waiting for the disk', seconds);
  return busy[seconds];
}

/**
 * Takes the tokens of one packet or report, by the bytes of its body.
 * @throws {ApiError} `rate_limited` when the application has not enough left
 */
function takeTokens({ rates, clock }: AdmissionDeps, application: RateLimited, bytes: number): void {
  const wait = rates.take(application, clock.monotonic(), bytes);
  if (wait === 0) return;
  throw new ApiError('rate_limited', 'The application sends more than its rate allows', wait);
}

/** As `takeTokens`, for a body that `chargeLarge` has not charged. */
export function chargeSmall(deps: AdmissionDeps, { application }: KeyHolder, bytes: number): void {
  if (bytes <= deps.bodies.free) takeTokens(deps, application, bytes);
}

/**
 * What large bodies without a known key may cost together: 1 MiB a second. A few kB of gzip are megabytes to decode, so
 * without a bound anyone could keep the event loop busy.
 */
const strangers: RateLimited = { number: -1, rate: 256, burst: 4096 };

/**
 * Charges a large body before it is decoded, since decoding it delays others even when it is refused afterwards.
 * @param key that the body seems to have
 * @returns the sender in whose turn it is decoded
 * @throws {ApiError} `rate_limited`
 */
export function chargeLarge(
  deps: AdmissionDeps & { readonly keys: { findKey(key: string): KeyHolder | undefined } },
  key: string | undefined,
  bytes: number,
): string {
  const sender = (key === undefined ? undefined : deps.keys.findKey(key)?.application) ?? strangers;
  takeTokens(deps, sender, bytes);
  return String(sender.number);
}
