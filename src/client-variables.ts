/**
 * The environment variables of the commands that talk to a server. They are none of the server's own settings, which
 * begin alike: it passes them over.
 */
export const clientVariables = {
  /** Address of the server. */
  url: 'FLAGMETER_URL',
  /** An access token, in place of a sign-in. */
  token: 'FLAGMETER_TOKEN',
  /** An API key, in place of a sign-in. */
  clientId: 'FLAGMETER_CLIENT_ID',
  clientSecret: 'FLAGMETER_CLIENT_SECRET',
} as const;
