import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
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

/** Client id of this program, which is a public client at every token host. */
export const cliClientId = 'flagmeter-cli';

const noBrowser = 'No browser found. To sign in with a browser on another machine: flagmeter login --device';

/** Time limit for a sign-in, ms. */
const timeoutMs = 10 * 60_000;

/**
 * Signs in with an authorization code and PKCE (RFC 6749 §4.1, RFC 7636), redirected to this machine (RFC 8252 §7.3).
 * @param show false to print the address only
 * @throws {Failure}
 */
export async function signInWithBrowser(context: Context, authUrl: string, show: boolean): Promise<StoredSession> {
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
            const grantParameters = readResponse(arrival, host, client, state);
            return authorizationCodeGrantRequest(
              host.server,
              client,
              None(),
              grantParameters,
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
 * Checks the issuer. Another issuer might forward codes to someone else (mix-up attack, RFC 9700 §4.4).
 * @throws {Failure}
 */
export function checkIssuer({ server: { issuer } }: TokenHost, authUrl: string): void {
  if (issuer.replace(/\/$/, '') === authUrl) return;
  throw new Failure(
    'failed',
    `The token host at ${authUrl} has the address ${issuer}: use that address, with --url or --auth-url`,
  );
}

/** Finishes the sign-in, and shows the result in the browser as well. */
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

/** Reads the authorization response. It must contain the issuer (RFC 9207 §2.4). @throws {Failure} */
function readResponse({ parameters }: Arrival, { server }: TokenHost, client: Client, state: string): URLSearchParams {
  try {
    const grantParameters = validateAuthResponse(server, client, parameters, state);
    if (grantParameters.has('code')) return grantParameters;
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError))
      throw new Failure('failed', `The response to the sign-in is not from ${server.issuer}; start again`);
    const description = error.error_description ?? 'The sign-in was refused';
    throw new Failure('unauthorized', printable(`${description} (${error.error})`));
  }
  throw new Failure('failed', 'The response to the sign-in has no code; start again');
}

/** Returns 256 random bits (RFC 7636 §4.1). */
function randomText({ randomBytes }: Context): string {
  return randomBytes(32).toString('base64url');
}

/** A listener on this machine that the token host redirects the browser to (RFC 8252 §7.3). */
interface Callback {
  readonly redirectUri: string;
  /** Resolves with the browser's request that has the right state. @throws {Failure} if none arrives in time */
  readonly arrived: Promise<Arrival>;
  close(): void;
}

/** A request of a browser that was redirected to the listener, and waits for a page. */
interface Arrival {
  readonly parameters: URLSearchParams;
  /** Shows the result in the browser. */
  show(text: string): void;
}

const path = '/callback';

/** Waits for the browser on a free port. Refuses a request with another state, and waits for the next one. */
export async function openCallback(state: string, timeoutMs: number): Promise<Callback> {
  const server = createServer();
  const arrived = new Promise<Arrival>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Failure('unauthorized', 'The sign-in was not completed in time; start again'));
    }, timeoutMs);
    server.on('close', () => clearTimeout(timer));
    server.on('request', (request, response) => {
      const [target, query = ''] = (request.url ?? '').split('?', 2);
      const parameters = new URLSearchParams(query);
      if (request.method !== 'GET' || target !== path) {
        respond(response, 404, 'Not found.');
      } else if (!isSame(parameters.get('state') ?? '', state)) {
        respond(response, 400, 'This is not the sign-in that the command line is waiting for.');
      } else {
        resolve({ parameters, show: (text) => respond(response, 200, text) });
      }
    });
  });
  // The rejection may have no listener yet; that is expected.
  arrived.catch(() => {});
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeIdleConnections();
  };
  return { redirectUri: `http://127.0.0.1:${port}${path}`, arrived, close };
}

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>flagmeter</title>
<body style="font: 1.1rem/1.5 system-ui; max-width: 32rem; margin: 20vh auto; padding: 0 1rem">
<h1>flagmeter</h1>
<p>${text}</p>
</html>
`);
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
