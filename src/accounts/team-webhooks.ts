import type { Webhook } from '../storage/lmdb/webhook-records.ts';
import type { Accounts } from './accounts.ts';

/** The webhooks of a team, in no particular order. */
export function webhooksOf({ webhooks }: Pick<Accounts, 'webhooks'>, teamId: string): Webhook[] {
  return [...webhooks.values()].filter((webhook) => webhook.teamId === teamId);
}
