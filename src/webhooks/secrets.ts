import { createHmac } from 'node:crypto';
import type { RandomBytes } from '../accounts/secrets.ts';
import type { WebhookSecret } from '../storage/lmdb/records.ts';

const prefix = 'whsec_';
const secretBytes = 32;

/** Time for which deliveries are also signed with the previous secret, while receivers switch to the new one. */
export const overlapMs = 24 * 3_600_000;

/** Creates a secret in the format of Standard Webhooks: 256 random bits in base64. */
export function newWebhookSecret(randomBytes: RandomBytes): WebhookSecret {
  return { text: prefix + Buffer.from(randomBytes(secretBytes)).toString('base64'), until: null };
}

/** Adds a new secret. The previous secret remains valid for `overlapMs`. Older secrets are removed. */
export function rotated(
  secrets: readonly WebhookSecret[],
  added: WebhookSecret,
  now: number,
): readonly WebhookSecret[] {
  return [added, ...secrets.slice(0, 1).map(({ text }) => ({ text, until: now + overlapMs }))];
}

/**
 * Returns the `webhook-signature` header, with one signature per valid secret. A receiver needs only one of the
 * secrets.
 * @param timestamp the `webhook-timestamp` header, Unix seconds
 */
export function signatures(
  secrets: readonly WebhookSecret[],
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  return secrets
    .filter(({ until }) => until === null || until > timestamp * 1000)
    .map(({ text }) => {
      const key = Buffer.from(text.slice(prefix.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
