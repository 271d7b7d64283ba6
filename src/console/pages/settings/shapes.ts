import type { Static } from 'typebox';
import type * as apiKeys from '../../../manage/api-keys.ts';
import type * as applications from '../../../manage/applications.ts';
import type * as audit from '../../../manage/audit.ts';
import type * as clients from '../../../manage/clients.ts';
import type * as deletions from '../../../manage/deletions.ts';
import type * as keys from '../../../manage/keys.ts';
import type { OriginCheckShown } from '../../../manage/origin-check-shape.ts';
import type { SignInSessions } from '../../../manage/session-shape.ts';
import type * as limits from '../../../manage/team-limits.ts';
import type * as teams from '../../../manage/teams.ts';
import type * as users from '../../../manage/user-shape.ts';
import type * as webhooks from '../../../manage/webhook-shape.ts';

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
