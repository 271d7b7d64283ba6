import type { ActorType } from '../audit.ts';
import type { Role } from '../roles.ts';
import type { Owner } from '../shapes/owner.ts';
import type { Verdict } from '../shapes/verdict.ts';
import type { VerdictBasis, VerdictKind } from '../verdicts.ts';
import type { WebhookEventType } from '../webhooks.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

type Owners = readonly Owner[];

/** The events that teams can subscribe to, with the `data` that receivers get besides the team. Times are RFC 3339. */
export interface WebhookEventData {
  'flag.first_seen': {
    readonly application: Named;
    readonly environment: string;
    readonly feature: string;
    readonly firstSeenAt: string;
    /** Absent from events of earlier releases; likewise below. */
    readonly owners?: Owners;
  };
  'flag.stale': {
    readonly application: Named;
    readonly feature: string;
    /** `null` for a flag that was declared but never seen. */
    readonly lastSeenAt: string | null;
    readonly staleSince: string;
    /** Nothing else is known: a sender that could use the flag may be switched off. */
    readonly basis: 'silence';
    readonly owners?: Owners;
  };
  'flag.verdict_changed': {
    readonly application: Named;
    readonly feature: string;
    readonly previous: VerdictKind;
    readonly verdict: VerdictKind;
    readonly basis: VerdictBasis;
    /** `null` if unknown. */
    readonly since: string | null;
    readonly environments: readonly string[];
    /** As in the answer of `…/verdict`, without figures. */
    readonly reasons: Verdict['reasons'];
    readonly owners?: Owners;
  };
  /** On Monday, 8:00 UTC. Lists are bounded. */
  'digest.weekly': {
    readonly week: { readonly from: string; readonly to: string };
    /** The applications with the most flags to remove, at most 10. */
    readonly applications: readonly {
      readonly application: Named;
      readonly counts: {
        readonly flags: number;
        readonly canGo: number;
        readonly cannotGoYet: number;
        readonly undeclared: number;
        readonly archivedButAsked: number;
      };
      readonly canGo: readonly {
        readonly feature: string;
        readonly verdict: VerdictKind;
        readonly since: string | null;
        /** The variant whose branch stays; `null` without one. */
        readonly variant: string | null;
        readonly owners: Owners;
      }[];
    }[];
    readonly applicationsLeftOut: number;
  };
  'key.leaked': {
    readonly application: Named;
    readonly key: Named & { readonly prefix: string };
    readonly leakedAt: string;
  };
  'api-key.expiring': {
    readonly apiKey: Named;
    readonly expiresAt: string;
    /** Rounded up. */
    readonly daysLeft: number;
  };
  'ingest.refusing': {
    /** `null` if the service refuses all messages. */
    readonly application: Named | null;
    readonly environment: string | null;
    readonly code: string;
    readonly status: number;
    readonly title: string;
    readonly count: number;
    readonly lastRefusedAt: string;
  };
  'experiment.finished': {
    readonly application: Named;
    /** `null` if it was deleted. */
    readonly environment: string | null;
    readonly feature: string;
    readonly experiment: Named;
    readonly outcome: string;
    /** The outcome in a sentence. */
    readonly verdict: string;
    readonly finishedAt: string;
  };
  'member.changed': {
    readonly change: 'added' | 'removed' | 'created' | 'changed' | 'deleted';
    /** The role is that in the team. */
    readonly user: Named & { readonly email: string; readonly role: Role };
    readonly by: { readonly type: ActorType; readonly name: string };
  };
}

export type WebhookEvent<Type extends WebhookEventType = WebhookEventType> = {
  readonly [Each in Type]: {
    readonly type: Each;
    readonly teamId: string;
    /** Time of the event, Unix ms. */
    readonly at: number;
    /** Uncertainty of the time, ms: the event may have occurred this much later. */
    readonly withinMs?: number;
    readonly data: WebhookEventData[Each];
  };
}[Type];
