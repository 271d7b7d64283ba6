import type { Group } from '../http/endpoint.ts';
import { type ActivityDeps, activity } from './activity.ts';
import { type ApiKeyDeps, apiKeys } from './api-keys.ts';
import { applications } from './applications.ts';
import { type AuditDeps, audit } from './audit.ts';
import { type CleanupDeps, cleanup } from './cleanup.ts';
import { clients } from './clients.ts';
import { codeScans } from './code-scans.ts';
import { comparison } from './comparison.ts';
import { environments } from './environments.ts';
import { experiments } from './experiments.ts';
import type { FeatureDeps } from './feature-detail.ts';
import { featureVerdict } from './feature-verdict.ts';
import { featureNotes, features } from './features.ts';
import { type HealthDeps, health } from './health.ts';
import { type HomeDeps, home } from './home.ts';
import { type IdentityDeps, identities } from './identities.ts';
import { identityProviders, type ProviderDeps } from './identity-providers.ts';
import { type ImportDeps, imports } from './imports.ts';
import { ingest } from './ingest-report.ts';
import { keys } from './keys.ts';
import { members } from './members.ts';
import { metrics } from './metrics.ts';
import { type OverviewDeps, overview } from './overview.ts';
import { passkeys } from './passkeys.ts';
import { preferences } from './preferences.ts';
import { prometheus } from './prometheus.ts';
import { reports } from './reports.ts';
import { resetLinks } from './reset-links.ts';
import { search } from './search.ts';
import { deletions, type StatusDeps, status, type UnattributedDeps, unattributed } from './service.ts';
import { sessions, type UserSessionDeps } from './sessions.ts';
import { type SignInPolicyDeps, signInPolicy } from './sign-in-policy.ts';
import { type LimitDeps, teams } from './teams.ts';
import { totp } from './totp.ts';
import type { UserDeps } from './user-patch.ts';
import { users } from './users.ts';
import { views } from './views.ts';
import { type WebhookDeps, webhooks } from './webhooks.ts';

export type ManagementDeps = ActivityDeps &
  ApiKeyDeps &
  AuditDeps &
  CleanupDeps &
  FeatureDeps &
  HealthDeps &
  HomeDeps &
  IdentityDeps &
  ImportDeps &
  OverviewDeps &
  ProviderDeps &
  LimitDeps &
  SignInPolicyDeps &
  StatusDeps &
  UnattributedDeps &
  UserDeps &
  UserSessionDeps &
  WebhookDeps;

/** The management API: every resource below `/api/v2`. */
export const managementApi: readonly Group<ManagementDeps>[] = [
  ...[applications, environments, views, keys, features, featureNotes, featureVerdict, comparison],
  ...[experiments, codeScans, cleanup],
  ...[metrics, overview, reports, prometheus, ingest, imports],
  ...[home, search, health],
  ...[identities, teams, members, apiKeys, clients, webhooks],
  ...[users, preferences, passkeys, resetLinks, totp, sessions, signInPolicy, identityProviders],
  ...[deletions, activity, audit, status, unattributed],
];
