/** Times and ids in the examples of the OpenAPI document. Nothing has such an id. */
export const exampleTime = '2026-01-31T12:00:00.000Z';
export const exampleIds = {
  application: `app_${'0'.repeat(23)}1`,
  key: `key_${'0'.repeat(23)}2`,
  team: `team_${'0'.repeat(23)}3`,
  user: `user_${'0'.repeat(23)}4`,
  apiKey: `client_${'0'.repeat(23)}5`,
  client: `signin_${'0'.repeat(23)}6`,
} as const;
