import type { VerdictKind } from '../../contract/verdicts.ts';
import type { WebhookEventType } from '../../contract/webhook-events.ts';
import type { WebhookFormat } from '../../contract/webhook-formats.ts';

/** The records of webhooks. Times are Unix milliseconds. */

export interface WebhookSecret {
  /** `whsec_` and base64. Stored in plain text, because it signs. */
  readonly text: string;
  /** Time until which deliveries are signed with it in addition to a newer one; `null` for the newest. */
  readonly until: number | null;
}

/** A team's subscription of an address to events. */
export interface Webhook {
  readonly id: string;
  readonly number: number;
  readonly teamId: string;
  readonly name: string;
  readonly url: string;
  /** The subscribed events, each with its start time. */
  readonly events: Readonly<Partial<Record<WebhookEventType, number>>>;
  /** Absent: `standard`, the only format of earlier versions. */
  readonly format?: WebhookFormat;
  /** The key of the project and the type of the issues; only of the format `jira`. */
  readonly project?: string;
  readonly issueType?: string;
  /** The `Authorization` header for an issue tracker; absent without one. */
  readonly authorization?: string;
  /** The newest first; at most two. */
  readonly secrets: readonly WebhookSecret[];
  readonly enabled: boolean;
  /** Why the service disabled it: it failed for days, or responded with 410. */
  readonly disabledFor: 'failing' | 'gone' | null;
  /** Time since which no delivery has succeeded; `null` if the last one did. */
  readonly failingSince: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface WebhookAttempt {
  readonly at: number;
  /** Its duration. */
  readonly ms: number;
  /** The status of the response; `null` without a response. */
  readonly status: number | null;
  /** Why it failed, for people; `null` if it succeeded. */
  readonly error: string | null;
  /** The beginning of the response's body; absent if it was empty, and in attempts of an earlier version. */
  readonly answer?: string;
}

export interface WebhookDelivery {
  /** The header `webhook-id`: the same for every attempt. */
  readonly id: string;
  /** Ascending for each webhook. */
  readonly number: number;
  readonly webhookId: string;
  readonly type: WebhookEventType | 'webhook.test';
  /** The event in the standard format: the exact bytes to sign and send. */
  readonly body: string;
  /** The body of the last attempt, if it was in another format. */
  readonly sent?: string;
  /** The `traceparent` of the request that caused it, if that was traced. */
  readonly cause?: string;
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attempts: number;
  /** The last attempts, the latest last. */
  readonly latest: readonly WebhookAttempt[];
  readonly createdAt: number;
  /** When it was delivered or given up; `null` while it is pending. */
  readonly endedAt: number | null;
}

/** A pending delivery in the queue. */
export interface WebhookTurn {
  /** When to try it next. */
  readonly due: number;
  /** Number of failed attempts since it was last queued. */
  readonly failed: number;
  /** The node that delivers it, and the time at which that node is considered dead and others may deliver it. */
  readonly lease: { readonly node: string; readonly until: number } | null;
}

/** The last notification about a lasting condition, which is sent once: see `webhooks/watch.ts`. */
export interface WebhookMark {
  readonly at: number;
  /** The announced verdict of a feature. */
  readonly verdict?: VerdictKind;
}
