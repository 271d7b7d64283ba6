/** The environment variables of the client commands. The server, whose settings have the same prefix, ignores them. */
export const clientVariables = {
  /** URL of the server. */
  url: 'FLAGMETER_URL',
  /** Default of `--app`. */
  app: 'FLAGMETER_APP',
  /** An access token, used instead of a sign-in. */
  token: 'FLAGMETER_TOKEN',
  /** An API key, used instead of a sign-in. */
  clientId: 'FLAGMETER_CLIENT_ID',
  clientSecret: 'FLAGMETER_CLIENT_SECRET',
  /** A file with a workload token, used instead of the secret of an API key. */
  workloadTokenFile: 'FLAGMETER_WORKLOAD_TOKEN_FILE',
} as const;
