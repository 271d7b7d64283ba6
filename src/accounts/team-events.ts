import type { WebhookEventData } from '../contract/events.ts';
import type { Application, ApplicationKey, User } from '../storage/lmdb/records.ts';
import type { Webhook } from '../storage/lmdb/webhook-records.ts';
import type { Accounts } from './accounts.ts';
import type { Authorship } from './actors.ts';
import type { Draft } from './store/account-store.ts';

/** An event that a change of accounts causes, for webhooks. */
export type TeamEvent =
  | {
      readonly type: 'member.changed';
      readonly teamId: string;
      readonly change: WebhookEventData['member.changed']['change'];
      /** As they are after the change; as before, if deleted. */
      readonly user: User;
    }
  | {
      readonly type: 'key.leaked';
      readonly application: Application;
      readonly key: ApplicationKey;
      /** Unix ms. */
      readonly at: number;
    };

/** Drafts the announcement of an event, in the commit of its change. */
export type Announce = (draft: Draft, event: TeamEvent, by: Authorship) => void;

/** The webhooks of a team, in no particular order. */
export function webhooksOf({ webhooks }: Pick<Accounts, 'webhooks'>, teamId: string): Webhook[] {
  return [...webhooks.values()].filter((webhook) => webhook.teamId === teamId);
}
