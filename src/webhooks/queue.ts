import type { Announce } from '../accounts/account-draft.ts';
import { mustExist } from '../accounts/checks.ts';
import { newId, type RandomBytes } from '../accounts/secrets.ts';
import type { Draft, Reader } from '../accounts/store/account-store.ts';
import { eventMessage, type WebhookEvent } from '../contract/webhook-events.ts';
import { webhookFormats } from '../contract/webhook-formats.ts';
import { increase } from '../runtime/counts.ts';
import { currentSpan } from '../runtime/spans.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Webhook, WebhookDelivery } from '../storage/lmdb/records.ts';
import { formatOf } from './formats/formats.ts';
import { issueMark, issueMs, markIn, putMark } from './marks.ts';

/** Maximum number of stored deliveries per webhook, pending or done. The next one removes the oldest. */
export const maxDeliveries = 1000;

interface QueueDeps {
  readonly now: number;
  readonly randomBytes: RandomBytes;
}

/** Queues the events that changes of accounts cause. */
export function announcer(randomBytes: RandomBytes): Announce {
  return (draft, event) => void enqueue(draft, event, { now: event.at, randomBytes });
}

/** Queues an event for each webhook of the team that was subscribed when it happened. @returns the number of webhooks */
export function enqueue(draft: Draft, event: WebhookEvent, deps: QueueDeps): number {
  const { type, teamId, at, withinMs = 0, data } = event;
  const wanting = [...draft.records('webhooks').values()].filter(
    (webhook) => webhook.teamId === teamId && webhook.enabled && (webhook.events[type] ?? Infinity) <= at + withinMs,
  );
  const news = wanting.filter((webhook) => isNews(draft, webhook, event, deps.now));
  for (const webhook of news) add(draft, webhook, { type, at, data }, deps);
  return news.length;
}

/** An issue tracker gets one issue for each finding. Marks it as opened. */
function isNews(draft: Draft, webhook: Webhook, { type, teamId, data }: WebhookEvent, now: number): boolean {
  if (!webhookFormats[formatOf(webhook)].isTracker) return true;
  const team = { id: teamId, name: '' };
  const { finding } = eventMessage(type, { ...data, team } as never);
  if (finding === null) return false;
  const mark = issueMark(webhook.id, type, finding);
  const opened = markIn(draft, mark)?.at ?? -Infinity;
  if (now - opened < issueMs) return false;
  putMark(draft, mark, { at: now });
  return true;
}

export function add(
  draft: Draft,
  { id: webhookId, teamId }: Pick<Webhook, 'id' | 'teamId'>,
  { type, at, data }: { readonly type: WebhookDelivery['type']; readonly at: number; readonly data: object },
  { now, randomBytes }: QueueDeps,
): WebhookDelivery {
  const team = { id: teamId, name: draft.get('teams', teamId)?.name ?? '' };
  const number = takeNumber(draft, webhookId);
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
  draft.put('webhookDeliveries', key, delivery);
  draft.put('webhookTurns', key, { due: now, failed: 0, lease: null });
  const oldest = deliveryKey(webhookId, number - maxDeliveries);
  if (draft.has('webhookDeliveries', oldest)) {
    draft.remove('webhookDeliveries', oldest);
    draft.remove('webhookTurns', oldest);
  }
  return delivery;
}

/** Repeats a delivery, whatever its outcome. @throws {ApiError} `not_found` */
export function queueAgain(draft: Draft, webhookId: string, id: string, now: number): WebhookDelivery {
  const delivery = mustExist('delivery', findDelivery(draft, webhookId, id));
  const key = deliveryKey(webhookId, delivery.number);
  const again = { ...delivery, state: 'waiting', endedAt: null } as const;
  draft.put('webhookDeliveries', key, again);
  const turn = draft.get('webhookTurns', key);
  const lease = turn?.lease ?? null; // An attempt may be in progress.
  draft.put('webhookTurns', key, { ...turn, due: now, failed: 0, lease });
  return again;
}

const digits = 12;

/** The key of a delivery. Those of a webhook sort by number. */
export function deliveryKey(webhookId: string, number: number): string {
  return `${webhookId}.${String(Math.max(0, number)).padStart(digits, '0')}`;
}

export function webhookIn(key: string): string {
  return key.slice(0, -digits - 1);
}

/** A delivery of a webhook. Its id contains its number. */
export function findDelivery(reader: Pick<Reader, 'get'>, webhookId: string, id: string): WebhookDelivery | undefined {
  const [, number] = /^msg_(\d{1,12})_/.exec(id) ?? [];
  if (number === undefined) return undefined;
  const found = reader.get('webhookDeliveries', deliveryKey(webhookId, Number(number)));
  return found?.id === id ? found : undefined;
}

/** Deliveries, latest first. @param before the number after that of the first one */
export function deliveriesOf(
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

export function waitingOf(reader: Pick<Reader, 'records'>, webhookId: string): readonly string[] {
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

/** Cancels a webhook's pending deliveries. Attempts in progress may still succeed. */
export function giveUp(draft: Draft, webhookId: string, now: number): void {
  for (const key of waitingOf(draft, webhookId)) {
    const delivery = draft.get('webhookDeliveries', key);
    if (delivery !== undefined) end(draft, key, delivery, 'failed', now);
  }
}

export function end(
  draft: Draft,
  key: string,
  delivery: WebhookDelivery,
  state: 'delivered' | 'failed',
  endedAt: number,
): void {
  draft.remove('webhookTurns', key);
  draft.put('webhookDeliveries', key, { ...delivery, state, endedAt });
}

export function sequenceOf(webhookId: string): string {
  return `deliveries of ${webhookId}`;
}

function takeNumber(draft: Draft, webhookId: string): number {
  const sequence = sequenceOf(webhookId);
  const number = draft.get('numbers', sequence) ?? 1;
  draft.put('numbers', sequence, number + 1);
  return number;
}
