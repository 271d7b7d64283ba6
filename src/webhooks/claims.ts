import type { AccountTransaction } from '../accounts/account-transaction.ts';
import type { RandomBytes } from '../accounts/secrets.ts';
import type { QueuedDelivery, Webhook, WebhookDelivery } from '../storage/lmdb/records.ts';
import { end, giveUp, webhookIn } from './queue.ts';
import type { SendResult } from './send.ts';
import { describeTarget } from './webhooks.ts';

/** Duration of a node's claim on a delivery. A node that records no result in this time is presumed dead. */
export const leaseMs = 60_000;

/** A webhook is disabled if a delivery is given up, and no delivery has succeeded in this period. */
const disableAfterMs = 5 * 86_400_000;

/** Maximum number of recorded attempts per delivery. */
const keptAttempts = 12;

export interface Claimant {
  readonly node: string;
  /** True if no other process delivers. Claims of other processes are then void. */
  readonly alone: boolean;
  readonly now: number;
}

export interface ClaimedDelivery {
  readonly key: string;
  readonly webhook: Webhook;
  readonly delivery: WebhookDelivery;
}

export function isFree(
  schedule: { due: number; lease: { node: string; until: number } | null },
  by: Claimant,
): boolean {
  const { due, lease } = schedule;
  if (due > by.now) return false;
  return lease === null || lease.until <= by.now || (by.alone && lease.node !== by.node);
}

/** Claims deliveries that are still free. Deliveries of deleted or disabled webhooks are recorded as failed. */
export function claim(tx: AccountTransaction, keys: readonly string[], by: Claimant): ClaimedDelivery[] {
  return keys.flatMap((key) => {
    const schedule = tx.get('webhookTurns', key);
    if (schedule === undefined || !isFree(schedule, by)) return [];
    const delivery = tx.get('webhookDeliveries', key);
    const webhook = tx.webhooks.get(webhookIn(key));
    if (delivery === undefined || webhook === undefined || !webhook.enabled) {
      if (delivery === undefined) tx.remove('webhookTurns', key);
      else end(tx, key, delivery, 'failed', by.now);
      return [];
    }
    tx.put('webhookTurns', key, { ...schedule, lease: { node: by.node, until: by.now + leaseMs } });
    return [{ key, webhook, delivery }];
  });
}

/** Releases a claim without an attempt. */
export function release(tx: AccountTransaction, key: string, { node }: Claimant): void {
  const schedule = tx.get('webhookTurns', key);
  if (schedule?.lease?.node === node) tx.put('webhookTurns', key, { ...schedule, lease: null });
}

interface DeliveryAttempt {
  readonly result: SendResult;
  /** The body that was sent. */
  readonly body: string;
  readonly at: number;
  readonly ms: number;
}

export function settle(
  tx: AccountTransaction,
  key: string,
  { result, body, at, ms }: DeliveryAttempt,
  by: Claimant & { readonly randomBytes: RandomBytes },
): void {
  const known = tx.get('webhookDeliveries', key);
  if (known === undefined) return;
  const { status, error, answer } = result;
  const attempt = { at, ms, status, error, ...(answer !== undefined && { answer }) };
  const latest = [...known.latest, attempt].slice(-keptAttempts);
  const { sent: _, ...rest } = known;
  const sent = body === known.body ? {} : { sent: body };
  const delivery = { ...rest, ...sent, attempts: known.attempts + 1, latest };
  const schedule = tx.get('webhookTurns', key);
  const isOurs = schedule?.lease?.node === by.node;
  if (error === null) succeed(tx, key, delivery, by.now);
  else if (!isOurs) tx.put('webhookDeliveries', key, delivery);
  else retry(tx, key, delivery, { turn: schedule, outcome: result }, by);
}

function succeed(tx: AccountTransaction, key: string, delivery: WebhookDelivery, now: number): void {
  end(tx, key, delivery, 'delivered', now);
  const webhook = tx.webhooks.get(delivery.webhookId);
  if (webhook === undefined || webhook.failingSince === null) return;
  tx.put('webhooks', webhook.id, { ...webhook, failingSince: null });
}

function retry(
  tx: AccountTransaction,
  key: string,
  delivery: WebhookDelivery,
  { turn: schedule, outcome: result }: { readonly turn: QueuedDelivery; readonly outcome: SendResult },
  { now, randomBytes }: Claimant & { readonly randomBytes: RandomBytes },
): void {
  const isGone = result.status === 410;
  // A test is not retried: the person who requested it sees its failure, and can request another test.
  const isTest = delivery.type === 'webhook.test';
  const failed = schedule.failed + 1;
  const delay = isGone || isTest ? undefined : delayAfter(failed, result.retryAfterMs, randomBytes);
  if (delay === undefined) end(tx, key, delivery, 'failed', now);
  else {
    tx.put('webhookTurns', key, { ...schedule, due: now + delay, failed, lease: null });
    tx.put('webhookDeliveries', key, delivery);
  }
  const webhook = tx.webhooks.get(delivery.webhookId);
  if (webhook !== undefined) noteFailure(tx, webhook, { isGone, isGivenUp: delay === undefined && !isTest, now });
}

function noteFailure(
  tx: AccountTransaction,
  webhook: Webhook,
  { isGone, isGivenUp, now }: { readonly isGone: boolean; readonly isGivenUp: boolean; readonly now: number },
): void {
  const failingSince = webhook.failingSince ?? now;
  const isOver = isGone || (isGivenUp && now - failingSince >= disableAfterMs);
  if (isOver && webhook.enabled) {
    const disabledFor = isGone ? 'gone' : 'failing';
    tx.put('webhooks', webhook.id, { ...webhook, failingSince, enabled: false, disabledFor });
    giveUp(tx, webhook.id, now);
    tx.note('webhook.disabled', webhook.teamId, describeTarget(webhook));
  } else if (webhook.failingSince === null) {
    tx.put('webhooks', webhook.id, { ...webhook, failingSince });
  }
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * Delay after each failed attempt. After the last attempt, about a day after the first one, the delivery is given up.
 */
export const delays: readonly number[] = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  8 * hour,
  8 * hour,
];

/** Maximum delay that a receiver can request. */
const longestMs = 8 * hour;

/** Random variation of a delay, up or down by a fifth, so that failed deliveries do not all retry together. */
const jitter = 0.2;

/** The delay after a number of failed attempts, ms; `undefined` to give up. @param asked delay in `Retry-After`, ms */
function delayAfter(failed: number, asked: number, randomBytes: RandomBytes): number | undefined {
  const delay = delays[failed - 1];
  if (delay === undefined) return undefined;
  const [high = 0, low = 0] = randomBytes(2);
  const chance = (high * 256 + low) / 65_536;
  const jittered = delay * (1 - jitter + 2 * jitter * chance);
  return Math.round(Math.max(jittered, Math.min(asked, longestMs)));
}
