import type { AccountDraft } from '../accounts/account-draft.ts';
import type { RandomBytes } from '../accounts/secrets.ts';
import type { Webhook, WebhookDelivery, WebhookTurn } from '../storage/lmdb/records.ts';
import { end, giveUp, webhookIn } from './queue.ts';
import type { Outcome } from './send.ts';
import { targetOf } from './webhooks.ts';

/** Lease of a delivery. A node that has not settled it by then is presumed dead. */
export const leaseMs = 60_000;

/** A webhook is disabled when a delivery is given up and none has succeeded for this long. */
const disableAfterMs = 5 * 86_400_000;

/** Maximum number of recorded attempts per delivery. */
const keptAttempts = 12;

export interface Turn {
  readonly node: string;
  /** Whether this is the only process that delivers. Leases of others are then from processes that have ended. */
  readonly alone: boolean;
  readonly now: number;
}

export interface Claimed {
  readonly key: string;
  readonly webhook: Webhook;
  readonly delivery: WebhookDelivery;
}

export function isFree(turn: { due: number; lease: { node: string; until: number } | null }, by: Turn): boolean {
  const { due, lease } = turn;
  if (due > by.now) return false;
  return lease === null || lease.until <= by.now || (by.alone && lease.node !== by.node);
}

/** Claims deliveries that are still free. Those of deleted or disabled webhooks are given up. */
export function claim(draft: AccountDraft, keys: readonly string[], by: Turn): Claimed[] {
  return keys.flatMap((key) => {
    const turn = draft.get('webhookTurns', key);
    if (turn === undefined || !isFree(turn, by)) return [];
    const delivery = draft.get('webhookDeliveries', key);
    const webhook = draft.webhooks.get(webhookIn(key));
    if (delivery === undefined || webhook === undefined || !webhook.enabled) {
      if (delivery === undefined) draft.remove('webhookTurns', key);
      else end(draft, key, delivery, 'failed', by.now);
      return [];
    }
    draft.put('webhookTurns', key, { ...turn, lease: { node: by.node, until: by.now + leaseMs } });
    return [{ key, webhook, delivery }];
  });
}

/** Releases claims without an attempt. */
export function release(draft: AccountDraft, key: string, { node }: Turn): void {
  const turn = draft.get('webhookTurns', key);
  if (turn?.lease?.node === node) draft.put('webhookTurns', key, { ...turn, lease: null });
}

interface Tried {
  readonly outcome: Outcome;
  /** The body that was sent. */
  readonly body: string;
  readonly at: number;
  readonly ms: number;
}

export function settle(
  draft: AccountDraft,
  key: string,
  { outcome, body, at, ms }: Tried,
  by: Turn & { readonly randomBytes: RandomBytes },
): void {
  const known = draft.get('webhookDeliveries', key);
  if (known === undefined) return;
  const { status, error, answer } = outcome;
  const attempt = { at, ms, status, error, ...(answer !== undefined && { answer }) };
  const latest = [...known.latest, attempt].slice(-keptAttempts);
  const { sent: _, ...rest } = known;
  const sent = body === known.body ? {} : { sent: body };
  const delivery = { ...rest, ...sent, attempts: known.attempts + 1, latest };
  const turn = draft.get('webhookTurns', key);
  const isOurs = turn?.lease?.node === by.node;
  if (error === null) succeed(draft, key, delivery, by.now);
  else if (!isOurs) draft.put('webhookDeliveries', key, delivery);
  else retry(draft, key, delivery, { turn, outcome }, by);
}

function succeed(draft: AccountDraft, key: string, delivery: WebhookDelivery, now: number): void {
  end(draft, key, delivery, 'delivered', now);
  const webhook = draft.webhooks.get(delivery.webhookId);
  if (webhook === undefined || webhook.failingSince === null) return;
  draft.put('webhooks', webhook.id, { ...webhook, failingSince: null });
}

function retry(
  draft: AccountDraft,
  key: string,
  delivery: WebhookDelivery,
  { turn, outcome }: { readonly turn: WebhookTurn; readonly outcome: Outcome },
  { now, randomBytes }: Turn & { readonly randomBytes: RandomBytes },
): void {
  const isGone = outcome.status === 410;
  const failed = turn.failed + 1;
  const delay = isGone ? undefined : delayAfter(failed, outcome.retryAfterMs, randomBytes);
  if (delay === undefined) end(draft, key, delivery, 'failed', now);
  else {
    draft.put('webhookTurns', key, { ...turn, due: now + delay, failed, lease: null });
    draft.put('webhookDeliveries', key, delivery);
  }
  const webhook = draft.webhooks.get(delivery.webhookId);
  if (webhook !== undefined) noteFailure(draft, webhook, { isGone, isGivenUp: delay === undefined, now });
}

function noteFailure(
  draft: AccountDraft,
  webhook: Webhook,
  { isGone, isGivenUp, now }: { readonly isGone: boolean; readonly isGivenUp: boolean; readonly now: number },
): void {
  const failingSince = webhook.failingSince ?? now;
  const isOver = isGone || (isGivenUp && now - failingSince >= disableAfterMs);
  if (isOver && webhook.enabled) {
    const disabledFor = isGone ? 'gone' : 'failing';
    draft.put('webhooks', webhook.id, { ...webhook, failingSince, enabled: false, disabledFor });
    giveUp(draft, webhook.id, now);
    draft.note('webhook.disabled', webhook.teamId, targetOf(webhook));
  } else if (webhook.failingSince === null) {
    draft.put('webhooks', webhook.id, { ...webhook, failingSince });
  }
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The delays after each failed attempt. After the last one, about a day after the first, the delivery is given up. */
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

/** Up to a fifth more or less, so that deliveries that failed together do not all retry together. */
const jitter = 0.2;

/** The delay after some failed attempts, ms; `undefined` to give up. @param asked the delay that the receiver requests, ms */
function delayAfter(failed: number, asked: number, randomBytes: RandomBytes): number | undefined {
  const delay = delays[failed - 1];
  if (delay === undefined) return undefined;
  const [high = 0, low = 0] = randomBytes(2);
  const chance = (high * 256 + low) / 65_536;
  const jittered = delay * (1 - jitter + 2 * jitter * chance);
  return Math.round(Math.max(jittered, Math.min(asked, longestMs)));
}
