import { stateOfWebhook } from '../../../contract/resources/columns.ts';
import { format } from '../../format.ts';
import type { Delivery, Webhook } from './shapes.ts';

/** How a webhook is, in a few words. */
export function webhookState(webhook: Webhook): string {
  const state = stateOfWebhook(webhook);
  const { failingSince } = webhook;
  return state === 'failing' && failingSince !== null ? `failing since ${format.time(failingSince)}` : state;
}

/** What the last attempt of a delivery has come to. */
export function lastAttempt({ latest }: Pick<Delivery, 'latest'>): string {
  const last = latest.at(-1);
  return last === undefined ? '' : (last.error ?? `answered ${last.status}`);
}
