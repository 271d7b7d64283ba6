import type { Announce } from '../accounts/account-transaction.ts';
import { mustExist } from '../accounts/checks.ts';
import { newId, type RandomBytes } from '../accounts/secrets.ts';
import type { Reader, Transaction } from '../accounts/store/account-store.ts';
import { eventMessage, type WebhookEvent } from '../contract/webhook-events.ts';
import { webhookFormats } from '../contract/webhook-formats.ts';
import { increase } from '../runtime/counts.ts';
import { currentSpan } from '../runtime/spans.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Webhook, WebhookDelivery } from '../storage/lmdb/records.ts';
import { findAnnouncement, issueKey, issueMs, putAnnouncement } from './announcements.ts';
import { getFormat } from './formats/formats.ts';

/** Maximum number of stored deliveries per webhook, pending or done. A further delivery replaces the oldest one. */
export const maxDeliveries = 1000;

interface QueueDeps {
  readonly now: number;
  readonly randomBytes: RandomBytes;
}

/** Returns the function that queues events of account changes. */
export function announcer(randomBytes: RandomBytes): Announce {
  return (tx, event) => void enqueue(tx, event, { now: event.at, randomBytes });
}

/** Queues an event for each webhook that was subscribed when the event happened. @returns the number of webhooks */
export function enqueue(tx: Transaction, event: WebhookEvent, deps: QueueDeps): number {
  const { type, teamId, at, withinMs = 0, data } = event;
  const wanting = [...tx.records('webhooks').values()].filter(
    (webhook) => webhook.teamId === teamId && webhook.enabled && (webhook.events[type] ?? Infinity) <= at + withinMs,
  );
  const news = wanting.filter((webhook) => isNews(tx, webhook, event, deps.now));
  for (const webhook of news) add(tx, webhook, { type, at, data }, deps);
  return news.length;
}

/** True unless the webhook's issue tracker already has an issue for the event. Records a new issue. */
function isNews(tx: Transaction, webhook: Webhook, { type, teamId, data }: WebhookEvent, now: number): boolean {
  if (!webhookFormats[getFormat(webhook)].isTracker) return true;
  const team = { id: teamId, name: '' };
  const { finding } = eventMessage(type, { ...data, team } as never);
  if (finding === null) return false;
  const key = issueKey(webhook.id, type, finding);
  const opened = findAnnouncement(tx, key)?.at ?? -Infinity;
  if (now - opened < issueMs) return false;
  putAnnouncement(tx, key, { at: now });
  return true;
}

export function add(
  tx: Transaction,
  { id: webhookId, teamId }: Pick<Webhook, 'id' | 'teamId'>,
  { type, at, data }: { readonly type: WebhookDelivery['type']; readonly at: number; readonly data: object },
  { now, randomBytes }: QueueDeps,
): WebhookDelivery {
  const team = { id: teamId, name: tx.get('teams', teamId)?.name ?? '' };
  const number = takeNumber(tx, webhookId);
  const body = { type, timestamp: new Date(at).toISOString(), data: { team, ...data } };
  const cause = currentSpan()?.traceparent;
  const delivery: WebhookDelivery = {
    id: newId(`msg_${number}`, randomBytes),
    number,
    webhookId,
    type,
    body: JSON.stringify(body),
    ...(cause !== undefined && { cause }),
    state: 'waiting',
    attempts: 0,
    latest: [],
    createdAt: now,
    endedAt: null,
  };
  const key = deliveryKey(webhookId, number);
  tx.put('webhookDeliveries', key, delivery);
  tx.put('webhookTurns', key, { due: now, failed: 0, lease: null });
  const oldest = deliveryKey(webhookId, number - maxDeliveries);
  if (tx.has('webhookDeliveries', oldest)) {
    tx.remove('webhookDeliveries', oldest);
    tx.remove('webhookTurns', oldest);
  }
  return delivery;
}

/** Queues a delivery again, even if it succeeded. @throws {Refusal} `not_found` */
export function queueAgain(tx: Transaction, webhookId: string, id: string, now: number): WebhookDelivery {
  const delivery = mustExist('delivery', findDelivery(tx, webhookId, id));
  const key = deliveryKey(webhookId, delivery.number);
  const again = { ...delivery, state: 'waiting', endedAt: null } as const;
  tx.put('webhookDeliveries', key, again);
  const schedule = tx.get('webhookTurns', key);
  const lease = schedule?.lease ?? null; // An attempt might be in progress.
  tx.put('webhookTurns', key, { ...schedule, due: now, failed: 0, lease });
  return again;
}

const digits = 12;

/** The key of a delivery. The deliveries of a webhook sort by number. */
export function deliveryKey(webhookId: string, number: number): string {
  return `${webhookId}.${String(Math.max(0, number)).padStart(digits, '0')}`;
}

export function webhookIn(key: string): string {
  return key.slice(0, -digits - 1);
}

/** Finds a delivery of a webhook by its id, which contains its number. */
export function findDelivery(reader: Pick<Reader, 'get'>, webhookId: string, id: string): WebhookDelivery | undefined {
  const [, number] = /^msg_(\d{1,12})_/.exec(id) ?? [];
  if (number === undefined) return undefined;
  const found = reader.get('webhookDeliveries', deliveryKey(webhookId, Number(number)));
  return found?.id === id ? found : undefined;
}

/** Lists deliveries, latest first. @param before exclusive upper bound of their numbers */
export function listDeliveries(
  { webhookDeliveries: kept }: Pick<AccountTables, 'webhookDeliveries'>,
  webhookId: string,
  before: number | undefined,
  limit: number,
): WebhookDelivery[] {
  kept.resetReadTxn(); // Include everything acknowledged before this request.
  const start = before === undefined ? `${webhookId}/` : deliveryKey(webhookId, before - 1);
  const range = { start, end: `${webhookId}.`, reverse: true, limit };
  return Array.from(kept.getRange(range), ({ value }) => value);
}

export function listWaitingKeys(reader: Pick<Reader, 'records'>, webhookId: string): readonly string[] {
  const waiting: string[] = [];
  for (const key of reader.records('webhookTurns').keys()) if (webhookIn(key) === webhookId) waiting.push(key);
  return waiting;
}

export function waitingCounts(reader: Pick<Reader, 'records'>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of reader.records('webhookTurns').keys()) {
    const id = webhookIn(key);
    increase(counts, id);
  }
  return counts;
}

/** Cancels a webhook's pending deliveries. Attempts in progress can still succeed. */
export function giveUp(tx: Transaction, webhookId: string, now: number): void {
  for (const key of listWaitingKeys(tx, webhookId)) {
    const delivery = tx.get('webhookDeliveries', key);
    if (delivery !== undefined) end(tx, key, delivery, 'failed', now);
  }
}

export function end(
  tx: Transaction,
  key: string,
  delivery: WebhookDelivery,
  state: 'delivered' | 'failed',
  endedAt: number,
): void {
  tx.remove('webhookTurns', key);
  tx.put('webhookDeliveries', key, { ...delivery, state, endedAt });
}

export function sequenceName(webhookId: string): string {
  return `deliveries of ${webhookId}`;
}

function takeNumber(tx: Transaction, webhookId: string): number {
  const sequence = sequenceName(webhookId);
  const number = tx.get('numbers', sequence) ?? 1;
  tx.put('numbers', sequence, number + 1);
  return number;
}
