import type { WebhookEventType } from '../../contract/events.ts';

/** What is kept of webhooks. Times are Unix milliseconds. */

/** What deliveries are signed with. */
export interface WebhookSecret {
  /** `whsec_` and base64. It signs, so it is kept as it is. */
  readonly text: string;
  /** Until when deliveries are signed with it as well, since there is a newer one; `null` for the newest. */
  readonly until: number | null;
}

/** An address of a team that is told of events. */
export interface Webhook {
  readonly id: string;
  readonly number: number;
  readonly teamId: string;
  readonly name: string;
  readonly url: string;
  /** The events that it is told of, each with the time from which on. */
  readonly events: Readonly<Partial<Record<WebhookEventType, number>>>;
  /** The newest first, two at the most. */
  readonly secrets: readonly WebhookSecret[];
  readonly enabled: boolean;
  /** Why the service disabled it: it failed for days, or it has answered 410. */
  readonly disabledFor: 'failing' | 'gone' | null;
  /** Since when no delivery has succeeded; `null` while the last one has. */
  readonly failingSince: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One try to deliver. */
export interface WebhookAttempt {
  readonly at: number;
  /** How long it took. */
  readonly ms: number;
  /** The status of the answer; `null` when there was none. */
  readonly status: number | null;
  /** Why it failed, for people; `null` when it did not. */
  readonly error: string | null;
}

/** One event for one webhook. */
export interface WebhookDelivery {
  /** The header `webhook-id`: the same for every attempt. */
  readonly id: string;
  /** Ascending for each webhook. */
  readonly number: number;
  readonly webhookId: string;
  readonly type: WebhookEventType | 'webhook.test';
  /** What is sent, to the byte: it is signed. */
  readonly body: string;
  /** The `traceparent` of the request that has caused it, when that was traced. */
  readonly cause?: string;
  readonly state: 'waiting' | 'delivered' | 'failed';
  /** All attempts that were made. */
  readonly attempts: number;
  /** The last of them, the latest last. */
  readonly latest: readonly WebhookAttempt[];
  readonly createdAt: number;
  /** When it was delivered or given up; `null` while it waits. */
  readonly endedAt: number | null;
}

/** The turn of a delivery that waits. */
export interface WebhookTurn {
  /** When it is to be tried next. */
  readonly due: number;
  /** The attempts that failed since it was queued, or queued again. */
  readonly failed: number;
  /** The node that is delivering it, and until when no other does: then the node has died. */
  readonly lease: { readonly node: string; readonly until: number } | null;
}

/** What was told of something that lasts, so that it is told once: see `webhooks/watch.ts`. */
export interface WebhookMark {
  readonly at: number;
}
