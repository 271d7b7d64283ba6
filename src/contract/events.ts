import type { ActorType } from './audit.ts';

/** What a team can be told of by its webhooks, and when. The table of docs/webhooks.md is written from here. */
export const webhookEvents = {
  'flag.first_seen': 'A flag is seen in an environment for the first time',
  'flag.stale': 'A flag has become stale',
  'key.leaked': 'A Backend key came from a browser',
  'ingest.refusing': 'Packets or reports are being refused',
  'member.changed': 'A member was added, changed or removed',
} as const;

export type WebhookEventType = keyof typeof webhookEvents;

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The `data` of each event beside the team, as receivers get it. Times are RFC 3339. */
export interface WebhookEventData {
  'flag.first_seen': {
    readonly application: Named;
    readonly environment: string;
    readonly feature: string;
    readonly firstSeenAt: string;
  };
  'flag.stale': {
    readonly application: Named;
    readonly feature: string;
    /** `null` for a flag that was only declared. */
    readonly lastSeenAt: string | null;
    readonly staleSince: string;
  };
  'key.leaked': {
    readonly application: Named;
    readonly key: Named & { readonly prefix: string };
    readonly leakedAt: string;
  };
  'ingest.refusing': {
    /** `null` when the service refuses whatever comes. */
    readonly application: Named | null;
    readonly environment: string | null;
    readonly code: string;
    readonly status: number;
    readonly title: string;
    readonly count: number;
    readonly lastRefusedAt: string;
  };
  'member.changed': {
    readonly change: 'added' | 'removed' | 'created' | 'changed' | 'deleted';
    readonly user: Named & { readonly email: string; readonly role: 'Admin' | 'User' };
    readonly by: { readonly type: ActorType; readonly name: string };
  };
}
