/** The tier of a team, which determines its limits. */
export type Tier = 'free' | 'team' | 'enterprise';

/** The limits of each tier, and their names in refusals. The limits of the highest tier also bound memory use. */
export const limits = {
  applications: { words: 'applications in a team', free: 3, team: 50, enterprise: 1000 },
  environments: { words: 'environments in an application', free: 5, team: 20, enterprise: 50 },
  keys: { words: 'keys of an application', free: 10, team: 50, enterprise: 100 },
  apiKeys: { words: 'API keys in a team', free: 3, team: 20, enterprise: 100 },
  clients: { words: 'sign-in clients in a team', free: 3, team: 20, enterprise: 100 },
  webhooks: { words: 'webhooks in a team', free: 2, team: 10, enterprise: 50 },
  members: { words: 'members in a team', free: 5, team: 100, enterprise: 10_000 },
  teams: { words: 'teams created by a team', free: 3, team: 20, enterprise: 100 },
  features: { words: 'declared features of an application', free: 200, team: 2000, enterprise: 10_000 },
  metrics: { words: 'declared metrics of an application', free: 100, team: 1000, enterprise: 10_000 },
} as const satisfies Record<string, Readonly<Record<Tier, number>> & { readonly words: string }>;

export type TierLimit = keyof typeof limits;
