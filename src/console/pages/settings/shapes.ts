import type { Static } from 'typebox';
import type * as apiKeys from '../../../contract/shapes/api-key.ts';
import type * as applications from '../../../contract/shapes/application.ts';
import type { OriginCheckShown } from '../../../contract/shapes/application.ts';
import type * as keys from '../../../contract/shapes/application-key.ts';
import type * as audit from '../../../contract/shapes/audit-entry.ts';
import type * as deletions from '../../../contract/shapes/deletion.ts';
import type { SignInSessions } from '../../../contract/shapes/session.ts';
import type * as clients from '../../../contract/shapes/sign-in-client.ts';
import type * as limits from '../../../contract/shapes/team.ts';
import type * as teams from '../../../contract/shapes/team.ts';
import type * as users from '../../../contract/shapes/user.ts';
import type * as webhooks from '../../../contract/shapes/webhook.ts';
import type { Thing } from '../../api/thing.ts';

/** The resources of the API, as the contract declares them. */

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

/** The properties of a section of an application's settings. */
export interface ApplicationProps {
  readonly application: Application;
  readonly thing: Thing<Application>;
}
