import type { Resource } from './resource.ts';
import { apps, envs, features, keys, metrics } from './resources-of-apps.ts';
import { apiKeys, audit, clients, deletions, members, teams, users } from './resources-of-teams.ts';
import { webhooks } from './webhooks-resource.ts';

export const resources = {
  apps,
  keys,
  envs,
  features,
  metrics,
  users,
  teams,
  members,
  'api-keys': apiKeys,
  clients,
  webhooks,
  audit,
  deletions,
} as const satisfies Readonly<Record<string, Resource>>;

export type ResourceName = keyof typeof resources;
