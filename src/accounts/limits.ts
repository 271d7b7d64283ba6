/** How many things there may be of each kind, so that no caller can fill the memory. */
export const limits = {
  applicationsPerTeam: 1000,
  environmentsPerApplication: 50,
  keysPerApplication: 100,
  apiKeysPerTeam: 100,
  originsPerApplication: 100,
} as const;
