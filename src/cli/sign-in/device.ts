import {
  type Client,
  type DeviceAuthorizationResponse,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  None,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
} from 'oauth4webapi';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { printable } from '../show.ts';
import { discover, exchange, GrantRefusal, requestTokens, type TokenHost } from '../token-host.ts';
import type { StoredSession } from '../token-store.ts';
import { checkIssuer, cliClientId } from './browser.ts';

/** Increase of the polling interval after `slow_down`, and the default interval, in seconds (RFC 8628 §3.5, §3.2). */
const step = 5;

/**
 * Signs in by the device authorization grant (RFC 8628), with a browser on another machine.
 * @throws {Failure} if the user does not sign in within the time limit
 */
export async function signInByDevice(context: Context, authUrl: string): Promise<StoredSession> {
  const host = await discover(context, authUrl);
  checkIssuer(host, authUrl);
  const scope = host.scopes.join(' ');
  const codes = await begin(host, authUrl, scope);
  context.err(instructions(codes));
  return poll(context, codes, () =>
    requestTokens(
      context,
      host,
      { authUrl, clientId: cliClientId, scope },
      {
        request: (client) => deviceCodeGrantRequest(host.server, client, None(), codes.device_code, host.options),
        process: processDeviceCodeResponse,
      },
    ),
  );
}

/** Requests the codes (RFC 8628 §3.1). */
async function begin(
  { server, options }: TokenHost,
  authUrl: string,
  scope: string,
): Promise<DeviceAuthorizationResponse> {
  const endpoint = server.device_authorization_endpoint;
  if (endpoint === undefined)
    throw new Failure('failed', `${authUrl} does not support signing in with a browser on another machine`);
  const client: Client = { client_id: cliClientId };
  const request = deviceAuthorizationRequest(server, client, None(), { scope }, options);
  return exchange(endpoint, request, (response) => processDeviceAuthorizationResponse(server, client, response));
}

function instructions(codes: DeviceAuthorizationResponse): string {
  const { user_code: code, verification_uri: page, verification_uri_complete: pageWithCode } = codes;
  const short = pageWithCode === undefined ? '' : `This address includes the code: ${printable(pageWithCode)}\n`;
  return (
    'Open this address in a browser on any machine and enter the code to sign in:\n\n' +
    `  ${printable(page)}\n  ${printable(code)}\n\n${short}` +
    `Waiting up to ${Math.ceil(codes.expires_in / 60)} minutes; press Ctrl-C to cancel\n`
  );
}

/** Polls until the person has decided (RFC 8628 §3.4, §3.5). */
async function poll(
  { clock, sleep }: Context,
  { expires_in: lifetime, interval = step }: DeviceAuthorizationResponse,
  ask: () => Promise<StoredSession>,
): Promise<StoredSession> {
  const deadline = clock.monotonic() + lifetime * 1000;
  for (let wait = Math.max(1, interval); ; ) {
    await sleep(wait * 1000);
    if (clock.monotonic() >= deadline) throw tooLate();
    try {
      return await ask();
    } catch (error) {
      wait = waitAfter(error, wait);
    }
  }
}

/** @returns the next interval in seconds @throws {unknown} the error if it ends the polling */
function waitAfter(error: unknown, wait: number): number {
  if (error instanceof GrantRefusal) {
    if (error.code === 'authorization_pending') return wait;
    if (error.code === 'slow_down') return wait + step;
    if (error.code === 'access_denied') throw new Failure('unauthorized', 'The sign-in was refused in the browser');
    throw error.code === 'expired_token' ? tooLate() : error;
  }
  if (error instanceof Failure && error.kind === 'unavailable') return 2 * wait;
  throw error;
}

function tooLate(): Failure {
  return new Failure('unauthorized', 'The sign-in was not completed in time; start again');
}
