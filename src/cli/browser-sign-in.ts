import { createHash } from 'node:crypto';
import { type Arrival, openCallback } from './callback.ts';
import { Failure } from './failure.ts';
import { plain } from './plain.ts';
import type { Surroundings } from './surroundings.ts';
import { discover, requestTokens, type TokenHost } from './token-endpoint.ts';
import type { StoredSession } from './token-store.ts';

/** This program, as every token host knows it: a public client. */
export const cliClientId = 'flagmeter-cli';

const noBrowser = 'No browser was found here; with one on another machine: flagmeter login --device';

/** How long a person has to sign in, ms. */
const patienceMs = 10 * 60_000;

/**
 * Has a person sign in with a browser: authorization code with PKCE (RFC 6749 §4.1, RFC 7636) and a redirect to this
 * machine (RFC 8252 §7.3).
 * @param show whether to open a browser, or only to print the address
 * @throws {Failure}
 */
export async function signInWithBrowser(
  surroundings: Surroundings,
  authUrl: string,
  show: boolean,
): Promise<StoredSession> {
  const host = await discover(surroundings, authUrl);
  checkIssuer(host, authUrl);
  const scope = host.scopes.join(' ');
  const verifier = randomText(surroundings);
  const state = randomText(surroundings);
  const callback = await openCallback(state, patienceMs);
  try {
    const { redirectUri } = callback;
    const url = `${authUrl}/connect/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: cliClientId,
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })}`;
    surroundings.err(`Open this address in a browser on this machine to sign in:\n\n  ${url}\n\n`);
    if (show && !surroundings.openBrowser(url)) surroundings.err(`${noBrowser}\n`);
    const arrival = await callback.arrived;
    return await finish(arrival, () => {
      const code = readCode(arrival, host);
      const form = { code, redirect_uri: redirectUri, code_verifier: verifier, client_id: cliClientId };
      const grant = { grant_type: 'authorization_code', ...form };
      return requestTokens(surroundings, { authUrl, clientId: cliClientId, scope }, grant);
    });
  } finally {
    callback.close();
  }
}

/**
 * A token host that calls itself something else may pass on what is meant for another (RFC 9700 §4.4).
 * @throws {Failure}
 */
export function checkIssuer({ issuer }: TokenHost, authUrl: string): void {
  if (issuer.replace(/\/$/, '') === authUrl) return;
  throw new Failure(
    'failed',
    `The token host at ${authUrl} says that its address is ${issuer}: use that one, with --url or --auth-url`,
  );
}

/** Tells the person in the browser how it ended, too. */
async function finish(arrival: Arrival, work: () => Promise<StoredSession>): Promise<StoredSession> {
  try {
    const session = await work();
    arrival.show('You are signed in. You can close this page and go on in the terminal.');
    return session;
  } catch (error) {
    arrival.show('This did not work; the terminal says why. You can close this page.');
    throw error;
  }
}

/** The code that the browser brought, from the host that was asked (RFC 9207 §2.4). @throws {Failure} */
function readCode({ parameters }: Arrival, { issuer }: TokenHost): string {
  if (parameters.get('iss') !== issuer)
    throw new Failure('failed', `The answer to the sign-in does not come from ${issuer}; start again`);
  const error = parameters.get('error');
  if (error !== null) {
    const description = parameters.get('error_description') ?? 'The sign-in was refused';
    throw new Failure('unauthorized', plain(`${description} (${error})`));
  }
  const code = parameters.get('code');
  if (code === null) throw new Failure('failed', 'The answer to the sign-in has no code; start again');
  return code;
}

/** 256 random bits, as RFC 7636 §4.1 wants them. */
function randomText({ randomBytes }: Surroundings): string {
  return randomBytes(32).toString('base64url');
}
