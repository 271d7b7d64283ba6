import type { AccountTransaction } from '../accounts/account-transaction.ts';
import type { Directory } from '../accounts/directory.ts';
import type { IssuerRules } from '../accounts/identity-providers.ts';
import type { LinkLifetimes } from '../accounts/invitations.ts';
import type { PasswordPool } from '../accounts/password-pool.ts';
import type { AccountStore } from '../accounts/store/account-store.ts';
import type { Authenticate } from '../auth/oauth/validation.ts';
import type { Issuers } from '../auth/sso/issuers.ts';
import type { Providers } from '../auth/sso/providers.ts';
import type { DeepReadonly } from '../contract/shapes/fields.ts';
import type { ServiceStatus } from '../contract/shapes/status.ts';
import type { KeyedLimits } from '../ingest/admission/rate-limits.ts';
import type { Instances } from '../ingest/formats/identities/instances.ts';
import type { ImportedParts } from '../ingest/formats/reports/imported-parts.ts';
import type { UnattributedRefusals } from '../ingest/ledger/ledger.ts';
import type { RecentChanges } from '../reports/activity/change-facts.ts';
import type { ReportPool } from '../reports/report-pool.ts';
import type { SharedResults } from '../reports/shared-results.ts';
import type { SharedSights } from '../reports/shared-sightings.ts';
import type { FreshnessDeps } from '../reports/usage/freshness.ts';
import type { AccountTables } from '../storage/lmdb/accounts.ts';
import type { Retention } from '../storage/lmdb/blocks.ts';
import type { User } from '../storage/lmdb/records.ts';
import type { UsageTables } from '../storage/lmdb/usage.ts';
import type { WebhookRules } from '../webhooks/webhooks.ts';
import type { SharedFindings } from './shared-findings.ts';
import type { TeamFigures } from './team-figures.ts';

/** The settings of the service that limit clients. */
export const limitSettings = [
  ...(['rate', 'burst', 'apiRate', 'tokenRate', 'maxBody', 'maxReport'] as const),
  ...(['maxFeatures', 'maxVariants', 'maxMetrics'] as const),
];

/** The claims of an access token. */
export type Claims = Awaited<ReturnType<Authenticate>>;

/** Services of the endpoints of the management API. */
export interface Services extends FreshnessDeps {
  readonly directory: Directory;
  readonly accountStore: AccountStore;
  readonly accounts: AccountTables;
  readonly store: UsageTables;
  readonly authenticate: Authenticate;
  /** True if a token is still valid when a change is made. The body can arrive long after the token was checked. */
  readonly isStillValid: (claims: Claims, tx: AccountTransaction) => boolean;
  /** Time of the sign-in of a token's user, Unix seconds; `undefined` if the session has ended. */
  readonly findAuthTime: (claims: Claims) => number | undefined;
  /** Limits the requests of a client, counted across all tokens of the client. Keyed by `holderKey`. */
  readonly rates: KeyedLimits;
  readonly passwords: Pick<PasswordPool, 'hash'>;
  /** Checks the password of a user. Throws after too many guesses. @param address the remote address of the request */
  provePassword(user: User, password: string, address: string): Promise<boolean>;
  readonly lifetimes: LinkLifetimes;
  readonly providers: Providers;
  readonly issuers: Issuers;
  readonly issuerRules: IssuerRules;
  readonly webhookRules: WebhookRules;
  /** Public URL of the auth host. */
  readonly authUrl: string;
  /** The base URL of the console. */
  readonly consoleUrl: string;
  /** `fixed` if only the operator of the service can raise the plan of a team; `open` if Admins can raise it, too. */
  readonly plans: 'fixed' | 'open';
  readonly limits: Readonly<Record<(typeof limitSettings)[number], number>>;
  readonly retention: Retention;
  /** Retention of exposures, days. */
  readonly exposureDays: number;
  /** Time without a packet after which a feature is stale. */
  readonly staleAfterMs: number;
  readonly instances: Pick<Instances, 'computeDigest' | 'forget'>;
  readonly imports: ImportedParts;
  readonly reports: ReportPool;
  readonly overviews: SharedResults;
  readonly sights: SharedSights;
  readonly findings: SharedFindings;
  readonly teamFigures: TeamFigures;
  readonly recentChanges: RecentChanges;
  /** The latest refusals that belong to no application. */
  readonly latestUnattributed: UnattributedRefusals;
  status(): DeepReadonly<ServiceStatus>;
}
