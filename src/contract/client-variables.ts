/** The environment variables of the client commands. The server, whose settings have the same prefix, ignores them. */
export const clientVariables = {
  /** URL of the server. */
  url: 'FLAGMETER_URL',
  /** An access token, in place of a sign-in. */
  token: 'FLAGMETER_TOKEN',
  /** An API key, in place of a sign-in. */
  clientId: 'FLAGMETER_CLIENT_ID',
  clientSecret: 'FLAGMETER_CLIENT_SECRET',
} as const;
