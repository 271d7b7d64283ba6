import { activity, apps, envs, features, keys, metrics, views } from './applications.ts';
import { experiments } from './experiments.ts';
import { identityProviders } from './identity-providers.ts';
import type { Resource } from './resource.ts';
import { apiKeys, audit, clients, deletions, members, teams, users } from './teams.ts';
import { webhooks } from './webhooks.ts';

/** The resources, by their word in the client. */
export const resources = {
  apps,
  keys,
  envs,
  features,
  experiments,
  metrics,
  views,
  users,
  teams,
  members,
  'api-keys': apiKeys,
  clients,
  webhooks,
  providers: identityProviders,
  activity,
  audit,
  deletions,
} as const satisfies Readonly<Record<string, Resource>>;

export type ResourceName = keyof typeof resources;
