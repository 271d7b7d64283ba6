import { clientVariables } from '../contract/client-variables.ts';
import { openApi } from './api.ts';
import { signInWithBrowser } from './browser-sign-in.ts';
import { loginCommand } from './client-commands.ts';
import { type Given, readGiven } from './command.ts';
import type { Context } from './context.ts';
import { signInByDevice } from './device-sign-in.ts';
import { UsageError } from './flags.ts';
import { endSession } from './logout.ts';
import { readSecretFile } from './secret-file.ts';
import { textOf } from './send.ts';
import { isReadable } from './server-url.ts';
import { authUrlOf, halfOfKey, serverUrlOf } from './session.ts';
import { signInAsClient } from './token-host.ts';
import { openTokenStore, type StoredSession, withSession } from './token-store.ts';

/**
 * Signs in and stores the tokens for later commands, in place of the previous session at the server.
 * @throws {UsageError} for wrong flags
 * @throws {Failure} if the sign-in fails; the previous session is kept then
 */
export async function login(argv: readonly string[], context: Context): Promise<number> {
  const given = readGiven(loginCommand, argv);
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
  if (given.has('device')) return signInByDevice(context, authUrl);
  const clientId = given.value('client-id') ?? context.env[clientVariables.clientId];
  if (!clientId) {
    for (const flag of ['client-secret-file', 'store'])
      if (given.has(flag)) throw new UsageError(`Cannot use --${flag} without --client-id`);
    if (context.env[clientVariables.clientSecret])
      throw halfOfKey(clientVariables.clientSecret, clientVariables.clientId);
    return signInWithBrowser(context, authUrl, !given.has('no-browser'));
  }
  const clientSecret = await readSecret(given, context);
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
