import { activity } from './activity.ts';
import { apiKeys } from './api-keys.ts';
import { applications } from './applications.ts';
import { audit } from './audit.ts';
import { cleanup } from './cleanup.ts';
import { clients } from './clients.ts';
import { codeScans } from './code-scans.ts';
import { comparison } from './comparison.ts';
import type { Group } from './endpoint.ts';
import { environments } from './environments.ts';
import { experiments } from './experiments.ts';
import { passkeys, totp } from './factors.ts';
import { featureVerdict } from './feature-verdict.ts';
import { featureNotes, features } from './features.ts';
import { health } from './health.ts';
import { home } from './home.ts';
import { identities } from './identities.ts';
import { identityProviders } from './identity-providers.ts';
import { imports } from './imports.ts';
import { keys } from './keys.ts';
import { metrics } from './metrics.ts';
import { overview } from './overview.ts';
import { preferences } from './preferences.ts';
import { ingest, prometheus, reports } from './reports.ts';
import { search } from './search.ts';
import { deletions, status, unattributed } from './service.ts';
import { sessions } from './sessions.ts';
import { signInPolicy } from './sign-in-policy.ts';
import { members, teams } from './teams.ts';
import { resetLinks, users } from './users.ts';
import { views } from './views.ts';
import { webhooks } from './webhooks.ts';

/** The management API: every resource below `/api/v2`. */
export const managementApi: readonly Group[] = [
  ...[applications, environments, views, keys, features, featureNotes, featureVerdict, comparison],
  ...[experiments, codeScans, cleanup],
  ...[metrics, overview, reports, prometheus, ingest, imports],
  ...[home, search, health],
  ...[identities, teams, members, apiKeys, clients, webhooks],
  ...[users, preferences, passkeys, resetLinks, totp, sessions, signInPolicy, identityProviders],
  ...[deletions, activity, audit, status, unattributed],
];
