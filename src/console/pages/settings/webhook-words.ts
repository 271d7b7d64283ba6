import { format } from '../../format.ts';
import type { Delivery, Webhook } from './shapes.ts';

/** The events, with what they mean. */
export const eventWords: readonly (readonly [event: Webhook['events'][number], words: string])[] = [
  ['flag.first_seen', 'A flag is seen in an environment for the first time'],
  ['flag.stale', 'A flag has become stale'],
  ['key.leaked', 'A Backend key came from a browser'],
  ['ingest.refusing', 'Packets or reports are being refused'],
  ['member.changed', 'A member was added, changed or removed'],
];

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
