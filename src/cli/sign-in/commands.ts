import { clientVariables } from '../../contract/client-variables.ts';
import { option } from '../../contract/shapes/option.ts';
import { connect, openApi } from '../api.ts';
import { clientCommand } from '../client-command.ts';
import type { Arguments } from '../command.ts';
import { jsonOption, urlOption } from '../common-options.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { UsageError } from '../options.ts';
import { printJson, printRecord } from '../print.ts';
import { readSecretFile } from '../secret-file.ts';
import { notUnderstood, readFields, readText, send } from '../send.ts';
import { isReadable } from '../server-url.ts';
import { describeSource, halfOfKey, resolveAuthUrl, resolveServerUrl } from '../session.ts';
import { openTokenStore, type StoredSession, withSession } from '../token-store.ts';

/** Settings of an option that cannot be combined with `--device`. */
const notByDevice = { excludes: ['device'] };

export const login = clientCommand({
  name: 'login',
  summary: 'Sign in to a server: with a browser here or elsewhere, or as an API key',
  examples: ['login --url https://flags.example.com', 'login --url https://flags.example.com --device'],
  options: [
    urlOption,
    option('auth-url URL', 'Address of the token host of the server, if different', {
      more: 'default: FLAGMETER_AUTH_URL, else the server',
    }),
    option('client-id ID', 'Sign in as this API key of a team, without a browser', {
      more: clientVariables.clientId,
      ...notByDevice,
    }),
    option('client-secret-file FILE', 'File with the secret of the API key on its first line; - is standard input', {
      file: true,
      more: `default: ${clientVariables.clientSecret}, else a prompt`,
      ...notByDevice,
    }),
    option('store', 'Store the secret as well, so that the session lasts longer than an hour', notByDevice),
    option('device', 'Sign in with a browser on another machine, by a code'),
    option('no-browser', 'Only print the address to open in a browser', notByDevice),
  ],
  notes: `
Without a browser here, --device shows an address and a code for another device, such as a phone.

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
 * Signs in, and replaces the previous session at the server.
 * @throws {UsageError} for wrong options
 * @throws {Failure} if the sign-in fails; the previous session is then kept
 */
async function signInAndStore(given: Arguments, context: Context): Promise<number> {
  const url = resolveServerUrl(context, given.value('url'));
  const authUrl = resolveAuthUrl(context, given.value('auth-url'), url);
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

async function signIn(given: Arguments, context: Context, authUrl: string): Promise<StoredSession> {
  if (given.has('device')) return (await import('./device.ts')).signInByDevice(context, authUrl);
  const clientId = given.value('client-id') ?? context.env[clientVariables.clientId];
  if (!clientId) {
    for (const option of ['client-secret-file', 'store'])
      if (given.has(option)) throw new UsageError(`Cannot use --${option} without --client-id`);
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

/** Reads the secret of the API key. It is never an argument, because every user of the machine can read arguments. */
async function readSecret(given: Arguments, context: Context): Promise<string> {
  const file = given.value('client-secret-file');
  if (file !== undefined) return readSecretFile('client-secret-file', file, context);
  const variable = context.env[clientVariables.clientSecret];
  if (variable) return variable;
  if (context.person !== undefined) return context.person.askSecret('Client secret: ');
  throw new UsageError(`Cannot sign in without a secret: use --client-secret-file or ${clientVariables.clientSecret}`);
}

/** @returns the previous session at the server */
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
  return readText(me, 'email') ?? readText(me, 'name') ?? 'an unnamed user';
}

export const logout = clientCommand({
  name: 'logout',
  summary: 'Sign out: delete the tokens, and invalidate them on the server',
  examples: ['logout'],
  options: [urlOption],
  run: signOut,
});

/**
 * @throws {UsageError} for wrong options
 * @throws {Failure} if the server cannot be reached; the tokens are deleted anyway
 */
async function signOut(given: Arguments, context: Context): Promise<number> {
  const url = resolveServerUrl(context, given.value('url'));
  const store = openTokenStore(context);
  const session = await store.exclusively(async () => {
    const stored = store.read();
    const current = stored.current === url ? null : stored.current;
    if (stored.servers[url] !== undefined) store.write({ ...withSession(stored, url, undefined), current });
    return stored.servers[url];
  });
  if (session === undefined) {
    context.err(`Not signed in to ${url}\n`);
    return 0;
  }
  await endSession(context, url, session).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new Failure('failed', `The tokens were deleted here, but might still be valid: ${error.message}`);
  });
  context.err(`Signed out of ${url}\n`);
  return 0;
}

/** @throws {Failure} if the server cannot be reached, or refuses */
async function endSession(context: Context, url: string, session: StoredSession): Promise<void> {
  if (session.refreshToken !== undefined) {
    const { revoke } = await import('../token-host.ts');
    await revoke(context, session, session.refreshToken);
  } else if (session.expiresAt > context.clock.now()) {
    const target = `${url}/api/account/invalidate-token`;
    const headers = { authorization: `Bearer ${session.accessToken}` };
    const { status } = await send(context, target, { method: 'POST', headers });
    // Status 401 means that the token is already invalid.
    if (status !== 200 && status !== 401) throw notUnderstood(target, status);
  }
}

export const whoami = clientCommand({
  name: 'whoami',
  summary: 'Show the server that commands use, and the user or API key that they act as',
  examples: ['whoami'],
  options: [urlOption, jsonOption],
  run: showCaller,
});

/**
 * @throws {UsageError} for wrong options
 * @throws {Failure} if no user is logged in, or the server is unreachable
 */
async function showCaller(given: Arguments, context: Context): Promise<number> {
  const api = connect(context, given);
  const me = readFields(await api.call('GET', ['users', 'me']));
  if (given.has('json')) {
    printJson(context, me);
    return 0;
  }
  const { id, email, name, role, primaryTeam } = me;
  const teams = (await api.list(['teams'])).map((team) =>
    team['id'] === primaryTeam ? `${team['name']} (primary)` : String(team['name']),
  );
  printRecord(context, { server: api.url, by: describeSource(context), id, email, name, role, teams });
  return 0;
}
