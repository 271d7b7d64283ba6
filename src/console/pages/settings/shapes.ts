import type { Static } from 'typebox';
import type * as apiKeys from '../../../management/api-keys.ts';
import type * as applications from '../../../management/applications.ts';
import type * as audit from '../../../management/audit.ts';
import type * as clients from '../../../management/clients.ts';
import type * as deletions from '../../../management/deletions.ts';
import type * as keys from '../../../management/keys.ts';
import type { OriginCheckShown } from '../../../management/origin-check-shape.ts';
import type { SignInSessions } from '../../../management/session-shape.ts';
import type * as limits from '../../../management/team-limits.ts';
import type * as teams from '../../../management/teams.ts';
import type * as users from '../../../management/user-shape.ts';
import type * as webhooks from '../../../management/webhook-shape.ts';

/** What the API shows, as its endpoints declare it. */

export type Application = Static<typeof applications.Application>;
export type ApplicationKey = Static<typeof keys.ApplicationKey>;
export type NewApplicationKey = Static<typeof keys.ApplicationKeyShownOnce>;
export type Deletion = Static<typeof deletions.Deletion>;
export type Team = Static<typeof teams.Team>;
export type TeamLimits = Static<typeof limits.TeamLimits>;
export type ApiKey = Static<typeof apiKeys.ApiKey>;
export type NewApiKey = Static<typeof apiKeys.ApiKeyShownOnce>;
export type SignInClient = Static<typeof clients.SignInClient>;
export type NewSignInClient = Static<typeof clients.SignInClientShownOnce>;
export type User = Static<typeof users.User>;
export type NewUser = Static<typeof users.UserShownOnce>;
export type Webhook = Static<typeof webhooks.Webhook>;
export type NewWebhook = Static<typeof webhooks.WebhookShownOnce>;
export type Delivery = Static<typeof webhooks.Delivery>;
export type AuditEntry = Static<typeof audit.AuditEntry>;
export type { OriginCheckShown, SignInSessions };
