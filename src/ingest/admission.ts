import type { KeyHolder } from '../accounts/key-holder.ts';
import type { QueueMonitor } from '../admission/queue-monitor.ts';
import type { RateLimits } from '../admission/rate-limits.ts';
import type { Clock } from '../clock.ts';
import { Refusal } from '../errors.ts';
import type { StoreHealth } from './store-health.ts';

/** What decides whether a packet or report is let in. */
export interface AdmissionParts {
  readonly clock: Clock;
  readonly monitor: QueueMonitor;
  readonly rates: RateLimits;
  readonly health: StoreHealth;
}

/** @throws {Refusal} `store_unavailable` or `backpressure`, while no data can be taken */
export function admit({ health, monitor, clock }: AdmissionParts): void {
  if (!health.ready) throw new Refusal('store_unavailable', 'The store cannot take data; see the log', 5);
  const now = clock.monotonic();
  if (monitor.admits(now)) return;
  throw new Refusal('backpressure', 'Too much is waiting for the disk', monitor.retryAfter(now));
}

/** Takes the token of one packet or report. @throws {Refusal} `rate_limited` when the application has none left */
export function takeToken({ rates, clock }: AdmissionParts, { application }: KeyHolder): void {
  const wait = rates.take(application, clock.monotonic());
  if (wait === 0) return;
  throw new Refusal('rate_limited', 'The application sends more than its rate allows', wait);
}
