import { format } from '../../format.ts';
import type { Delivery, Webhook } from './shapes.ts';

/** How a webhook is, in a few words. */
export function webhookState({ enabled, disabledFor, failingSince }: Webhook): string {
  if (disabledFor === 'failing') return 'disabled: it failed for days';
  if (disabledFor === 'gone') return 'disabled: it answered 410';
  if (!enabled) return 'disabled';
  return failingSince === null ? 'enabled' : `failing since ${format.time(failingSince)}`;
}

/** What the last attempt of a delivery has come to. */
export function lastAttempt({ latest }: Pick<Delivery, 'latest'>): string {
  const last = latest.at(-1);
  return last === undefined ? '' : (last.error ?? `answered ${last.status}`);
}
