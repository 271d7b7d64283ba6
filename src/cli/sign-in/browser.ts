import {
  AuthorizationResponseError,
  authorizationCodeGrantRequest,
  type Client,
  calculatePKCECodeChallenge,
  None,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import { maxSignInAge } from '../../contract/step-up.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { printable } from '../show.ts';
import { discover, requestTokens, type TokenHost } from '../token-host.ts';
import type { StoredSession } from '../token-store.ts';
import { type Arrival, openCallback } from './callback.ts';

/** The client id of this program, a public client, at every token host. */
export const cliClientId = 'flagmeter-cli';

const noBrowser = 'No browser found. To sign in with one on another machine: flagmeter login --device';

/** Time limit for a sign-in, ms. */
const timeoutMs = 10 * 60_000;

/**
 * Signs a person in with a browser: authorization code with PKCE (RFC 6749 §4.1, RFC 7636) and a redirect to this
 * machine (RFC 8252 §7.3).
 * @param show whether to open a browser, or only to print the address
 * @throws {Failure}
 */
export async function signInWithBrowser(
  context: Context,
  authUrl: string,
  show: boolean,
): Promise<StoredSession> {
  const host = await discover(context, authUrl);
  checkIssuer(host, authUrl);
  const scope = host.scopes.join(' ');
  const verifier = randomText(context);
  const state = randomText(context);
  const callback = await openCallback(state, timeoutMs);
  try {
    const { redirectUri } = callback;
    const url = `${authUrl}/connect/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: cliClientId,
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      max_age: String(maxSignInAge),
    })}`;
    context.err(`Open this address in a browser on this machine to sign in:\n\n  ${url}\n\n`);
    if (show && !context.openBrowser(url)) context.err(`${noBrowser}\n`);
    const arrival = await callback.arrived;
    return await finish(arrival, () =>
      requestTokens(
        context,
        host,
        { authUrl, clientId: cliClientId, scope },
        {
          request: async (client) => {
            const answer = readAnswer(arrival, host, client, state);
            return authorizationCodeGrantRequest(
              host.server,
              client,
              None(),
              answer,
              redirectUri,
              verifier,
              host.options,
            );
          },
          process: processAuthorizationCodeResponse,
        },
      ),
    );
  } finally {
    callback.close();
  }
}

/**
 * A token host with another issuer may forward codes to someone else (mix-up attack, RFC 9700 §4.4).
 * @throws {Failure}
 */
export function checkIssuer({ server: { issuer } }: TokenHost, authUrl: string): void {
  if (issuer.replace(/\/$/, '') === authUrl) return;
  throw new Failure(
    'failed',
    `The token host at ${authUrl} has the address ${issuer}: use that one, with --url or --auth-url`,
  );
}

/** Shows the outcome in the browser too. */
async function finish(arrival: Arrival, work: () => Promise<StoredSession>): Promise<StoredSession> {
  try {
    const session = await work();
    arrival.show('You are signed in. You can close this page and return to the terminal.');
    return session;
  } catch (error) {
    arrival.show('The sign-in failed; the terminal shows why. You can close this page.');
    throw error;
  }
}

/** The authorization response, which must name the issuer (RFC 9207 §2.4). @throws {Failure} */
function readAnswer(
  { parameters }: Arrival,
  { server }: TokenHost,
  client: Client,
  state: string,
): URLSearchParams {
  try {
    const answer = validateAuthResponse(server, client, parameters, state);
    if (answer.has('code')) return answer;
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError))
      throw new Failure('failed', `The response to the sign-in is not from ${server.issuer}; start again`);
    const description = error.error_description ?? 'The sign-in was refused';
    throw new Failure('unauthorized', printable(`${description} (${error.error})`));
  }
  throw new Failure('failed', 'The response to the sign-in has no code; start again');
}

/** 256 random bits (RFC 7636 §4.1). */
function randomText({ randomBytes }: Context): string {
  return randomBytes(32).toString('base64url');
}
