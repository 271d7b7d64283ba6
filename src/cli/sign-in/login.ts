import { clientVariables } from '../../contract/client-variables.ts';
import { flag } from '../../contract/shapes/option.ts';
import { openApi } from '../api.ts';
import { clientCommand } from '../client-command.ts';
import type { Given } from '../command.ts';
import { urlFlag } from '../common-flags.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../flags.ts';
import { readSecretFile } from '../secret-file.ts';
import { textOf } from '../send.ts';
import { isReadable } from '../server-url.ts';
import { authUrlOf, halfOfKey, serverUrlOf } from '../session.ts';
import { openTokenStore, type StoredSession, withSession } from '../token-store.ts';
import { endSession } from './logout.ts';

/** For flags of a sign-in that is not by device. */
const notByDevice = { excludes: ['device'] };

export const login = clientCommand({
  name: 'login',
  summary: 'Sign in to a server: with a browser here or elsewhere, or as an API key',
  flags: [
    urlFlag,
    flag('auth-url URL', 'Address of its token host, if different', {
      more: 'default: FLAGMETER_AUTH_URL, else the server',
    }),
    flag('client-id ID', 'Sign in as this API key of a team, without a browser', {
      more: clientVariables.clientId,
      ...notByDevice,
    }),
    flag(
      'client-secret-file FILE',
      'File with the secret of the API key on its first line; - is standard input',
      {
        file: true,
        more: `default: ${clientVariables.clientSecret}, else a prompt`,
        ...notByDevice,
      },
    ),
    flag('store', 'Store the secret too, so that the session lasts longer than an hour', notByDevice),
    flag('device', 'Sign in with a browser on another machine, by a code'),
    flag('no-browser', 'Only print the address to open in a browser', notByDevice),
  ],
  notes: `
Without a browser here, --device shows an address and a code for one elsewhere, such as a phone's.

The tokens of each server are stored in $XDG_CONFIG_HOME/flagmeter/credentials.json
(~/.config/flagmeter), readable by this user only. A browser session renews itself for up to 90
days. A session of an API key lasts an hour, unless --store stores its secret too.

Without a login: FLAGMETER_TOKEN is an access token and takes precedence. With FLAGMETER_CLIENT_ID
and FLAGMETER_CLIENT_SECRET, each command requests a token of its own. In place of the secret,
FLAGMETER_WORKLOAD_TOKEN_FILE names a file with a token of the CI job or pod.
`,
  run: signInAndStore,
});

/**
 * Signs in and stores the tokens for later commands, in place of the previous session at the server.
 * @throws {UsageError} for wrong flags
 * @throws {Failure} if the sign-in fails; the previous session is kept then
 */
async function signInAndStore(given: Given, context: Context): Promise<number> {
  const url = serverUrlOf(context, given.value('url'));
  const authUrl = authUrlOf(context, given.value('auth-url'), url);
  if (isReadable(url) || isReadable(authUrl))
    context.err('Warning: this address is not encrypted; others on the network can read the tokens\n');
  const session = await signIn(given, context, authUrl);
  const end = (unused: StoredSession) => endSession(context, url, unused).catch(() => {});
  try {
    const name = await nameAt(context, url, session);
    const before = await keep(context, url, session);
    if (before !== undefined) await end(before);
    context.err(`Signed in to ${url} as ${name}\n`);
    return 0;
  } catch (error) {
    await end(session);
    throw error;
  }
}

async function signIn(given: Given, context: Context, authUrl: string): Promise<StoredSession> {
  if (given.has('device')) return (await import('./device.ts')).signInByDevice(context, authUrl);
  const clientId = given.value('client-id') ?? context.env[clientVariables.clientId];
  if (!clientId) {
    for (const flag of ['client-secret-file', 'store'])
      if (given.has(flag)) throw new UsageError(`Cannot use --${flag} without --client-id`);
    if (context.env[clientVariables.clientSecret])
      throw halfOfKey(clientVariables.clientSecret, clientVariables.clientId);
    const { signInWithBrowser } = await import('./browser.ts');
    return signInWithBrowser(context, authUrl, !given.has('no-browser'));
  }
  const clientSecret = await readSecret(given, context);
  const { signInAsClient } = await import('../token-host.ts');
  const session = await signInAsClient(context, authUrl, { clientId, clientSecret });
  return given.has('store') ? { ...session, clientSecret } : session;
}

/** The secret is never an argument, as every user of the machine can read those. */
async function readSecret(given: Given, context: Context): Promise<string> {
  const file = given.value('client-secret-file');
  if (file !== undefined) return readSecretFile('client-secret-file', file, context);
  const variable = context.env[clientVariables.clientSecret];
  if (variable) return variable;
  if (context.person !== undefined) return context.person.askSecret('Client secret: ');
  throw new UsageError(
    `Cannot sign in without a secret: use --client-secret-file or ${clientVariables.clientSecret}`,
  );
}

/** Stores a session. @returns the previous one at the server */
function keep(context: Context, url: string, session: StoredSession): Promise<StoredSession | undefined> {
  const store = openTokenStore(context);
  return store.exclusively(async () => {
    const stored = store.read();
    store.write({ ...withSession(stored, url, session), current: url });
    return stored.servers[url];
  });
}

async function nameAt(context: Context, url: string, { accessToken: token }: StoredSession): Promise<string> {
  const access = { token: async () => token, replace: async () => token };
  const me = await openApi(context, url, access).call('GET', ['users', 'me']);
  return textOf(me, 'email') ?? textOf(me, 'name') ?? 'an unnamed user';
}
