import { formatExperimentState } from '../experiment-state.ts';
import type { ActivityItem, ChangedField } from '../shapes/activity.ts';
import type { ApiKey } from '../shapes/api-key.ts';
import type { Application, Environment } from '../shapes/application.ts';
import type { ApplicationKey } from '../shapes/application-key.ts';
import type { AuditEntry } from '../shapes/audit-entry.ts';
import type { Deletion } from '../shapes/deletion.ts';
import type { Experiment } from '../shapes/experiment.ts';
import type { Feature } from '../shapes/feature.ts';
import type { IdentityProvider } from '../shapes/identity-provider.ts';
import type { Metric } from '../shapes/metric.ts';
import { ownersText } from '../shapes/owned.ts';
import type { SignInClient } from '../shapes/sign-in-client.ts';
import type { Team } from '../shapes/team.ts';
import type { Member, User } from '../shapes/user.ts';
import type { SavedView } from '../shapes/view.ts';
import type { Delivery, Webhook } from '../shapes/webhook.ts';
import type { Factor } from '../sign-in.ts';
import { verdictWord } from '../verdicts.ts';
import type { ColumnsOf } from './column.ts';

/**
 * The columns of the resources, in the order in which the client shows them. The columns have their own file, because
 * the console needs only this part of the resources.
 */

const name = { label: 'Name', cut: 'last' } as const;
const id = { label: 'Id', id: true } as const;

export const applicationColumns = {
  name,
  environments: { label: 'Environments', cut: true },
  createdAt: 'Created',
  teamId: { label: 'Team', id: true },
  id,
} as const satisfies ColumnsOf<typeof Application>;

export const applicationKeyColumns = {
  type: 'Type',
  name,
  warnings: 'Warnings',
  prefix: { label: 'Key', cut: true, of: ({ key, prefix }) => key ?? `${prefix}…` },
  createdAt: 'Created',
  expiresAt: 'Expires',
  lastUsedAt: 'Last used',
  refused: { label: 'Refused', right: true, of: ({ refused }) => refused.count },
  id,
} as const satisfies ColumnsOf<typeof ApplicationKey>;

export const environmentColumns = { name, createdAt: 'Created' } as const satisfies ColumnsOf<typeof Environment>;

export const viewColumns = {
  name,
  page: 'Page',
  shared: 'Shared',
  by: { label: 'By', cut: true },
  id,
} as const satisfies ColumnsOf<typeof SavedView>;

export const featureColumns = {
  name,
  verdict: { label: 'Verdict', state: true, of: ({ verdict }) => verdictWord(verdict) },
  declared: { label: 'State', state: true, of: formatState },
  lastSeenAt: 'Last seen',
  owners: { label: 'Owners', cut: true, of: ({ owners }) => ownersText(owners) || null },
  tags: { label: 'Tags', cut: true },
  description: { label: 'Description', cut: true },
} as const satisfies ColumnsOf<typeof Feature>;

export const experimentColumns = {
  name,
  feature: { label: 'Feature', cut: true },
  state: { label: 'State', state: true, of: formatExperimentState },
  progress: { label: 'Progress', of: ({ progress, verdict }) => verdict ?? progress.text, cut: true },
  environment: 'Environment',
  id,
} as const satisfies ColumnsOf<typeof Experiment>;

function formatState({ declared, archived, permanent }: Feature): string {
  const words = [declared ? 'declared' : 'only seen', archived && 'archived', permanent && 'permanent'];
  return words.filter((word) => typeof word === 'string').join(', ');
}

export const metricColumns = {
  name,
  kind: 'Kind',
  unit: { label: 'Unit', cut: true },
  declared: 'Declared',
} as const satisfies ColumnsOf<typeof Metric>;

export const teamColumns = { name, plan: 'Plan', createdAt: 'Created', id } as const satisfies ColumnsOf<typeof Team>;

const email = { label: 'E-mail', cut: 'last' } as const;

const person = { email, name, role: 'Role' } as const;

export const memberColumns = {
  ...person,
  joinedAt: 'Member since',
  lastSignInAt: 'Last sign-in',
  secondFactors: {
    label: 'Second factor',
    of: ({ secondFactors }) => secondFactors && (secondFactors.join(', ') || 'none'),
  },
  id,
} as const satisfies ColumnsOf<typeof Member>;

export const userColumns = {
  ...person,
  invitation: { label: 'Invitation', of: stateOfLink },
  teams: { label: 'Teams', id: true },
  id,
} as const satisfies ColumnsOf<typeof User>;

function stateOfLink({ invitation }: User): string | null {
  if (invitation === null) return null;
  const what = invitation.purpose === 'invitation' ? 'invited' : 'reset link';
  return `${what}, until ${invitation.expiresAt.slice(0, 10)}`;
}

export const apiKeyColumns = {
  name,
  scopes: 'Scopes',
  createdAt: 'Created',
  lastUsedAt: 'Last used',
  expiresAt: 'Expires',
  warnings: { label: 'Warnings', of: ({ warnings }) => warnings.map(({ code }) => code).join(', ') },
  clientId: { label: 'Client id', id: true },
} as const satisfies ColumnsOf<typeof ApiKey>;

export const signInClientColumns = {
  name,
  type: 'Type',
  redirectUris: { label: 'Redirect URIs', cut: true },
  createdAt: 'Created',
  clientId: { label: 'Client id', id: true },
} as const satisfies ColumnsOf<typeof SignInClient>;

export const webhookColumns = {
  name,
  events: { label: 'Events', cut: true },
  enabled: { label: 'State', state: true, of: stateOfWebhook },
  failingSince: 'Failing since',
  waiting: { label: 'Waiting', right: true },
  id,
} as const satisfies ColumnsOf<typeof Webhook>;

export function stateOfWebhook({ enabled, disabledFor, failingSince }: Webhook): string {
  if (disabledFor === 'failing') return 'disabled: failed for days';
  if (disabledFor === 'gone') return 'disabled: receiver responded with 410';
  if (!enabled) return 'disabled';
  return failingSince === null ? 'enabled' : 'failing';
}

export const identityProviderColumns = {
  name,
  issuer: { label: 'Issuer', cut: true },
  enabled: { label: 'State', state: true, of: ({ enabled }) => (enabled ? 'enabled' : 'disabled') },
  source: 'Source',
  id,
} as const satisfies ColumnsOf<typeof IdentityProvider>;

export const deliveryColumns = {
  type: 'Event',
  state: { label: 'State', state: true },
  attempts: { label: 'Attempts', right: true },
  createdAt: 'Created',
  nextAttemptAt: 'Next',
  latest: { label: 'Last response', cut: true, of: lastResponse },
  id,
} as const satisfies ColumnsOf<typeof Delivery>;

/** Returns the error of the last attempt, or the status of its response. */
function lastResponse({ latest }: Delivery): string | number | null | undefined {
  const last = latest.at(-1);
  return last?.error ?? last?.status;
}

export const auditColumns = {
  at: 'When',
  action: 'Action',
  'actor.name': { label: 'Who', cut: true, of: ({ actor }) => actor.name || actor.type },
  'target.name': { label: 'Target', cut: 'last' },
  changes: { label: 'Changes', cut: true, of: ({ changes }) => changesText(changes ?? []) },
  reason: 'Reason',
  'actor.address': 'From',
  factors: { label: 'Factors', cut: true, of: formatFactors },
} as const satisfies ColumnsOf<typeof AuditEntry>;

function changesText(changes: readonly ChangedField[]): string | null {
  const texts = changes.map(({ field, from, to }) => `${field}: ${from ?? 'none'} → ${to ?? 'none'}`);
  return texts.length === 0 ? null : texts.join(', ');
}

export const activityColumns = {
  at: 'When',
  text: { label: 'What happened', cut: 'last' },
  feature: { label: 'Feature', cut: true },
  environment: { label: 'Environment', cut: true },
  by: { label: 'Who', cut: true, of: ({ by }) => by && (by.name ?? by.type) },
  kind: 'Kind',
} as const satisfies ColumnsOf<typeof ActivityItem>;

interface Proof {
  readonly factors?: readonly Factor[];
  readonly provider?: string | null;
}

/** Returns the factors of a sign-in as text: `password, totp`, or `provider (Okta)`. */
export function formatFactors({ factors, provider }: Proof): string | null {
  const words = factors?.map((factor) => (factor === 'provider' && provider ? `provider (${provider})` : factor));
  return words?.join(', ') ?? null;
}

export const deletionColumns = {
  requestedAt: 'Deleted',
  'target.type': 'Type',
  'target.name': name,
  'target.id': { label: 'Application', id: true },
} as const satisfies ColumnsOf<typeof Deletion>;
