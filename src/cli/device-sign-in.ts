import { checkIssuer, cliClientId } from './browser-sign-in.ts';
import { Failure } from './failure.ts';
import { fieldsOf, notUnderstood, send, textOf } from './send.ts';
import type { Surroundings } from './surroundings.ts';
import { discover, GrantRefused, grantRefusal, requestTokens } from './token-endpoint.ts';
import type { StoredSession } from './token-store.ts';

const grant = 'urn:ietf:params:oauth:grant-type:device_code';

/** What is waited longer after `slow_down`, and between two polls when the host does not say (RFC 8628 §3.5, §3.2), s. */
const step = 5;

/** The codes of a sign-in (RFC 8628 §3.2). */
interface Codes {
  readonly deviceCode: string;
  readonly userCode: string;
  /** The page where a person enters it. */
  readonly page: string;
  /** The same with the code in it. */
  readonly pageWithCode: string | undefined;
  /** How long they are good, and between two polls, s. */
  readonly lifetime: number;
  readonly interval: number;
}

/**
 * Has a person sign in with a browser on another machine: the device authorization grant (RFC 8628).
 * @throws {Failure} when they do not, or not in time
 */
export async function signInByDevice(surroundings: Surroundings, authUrl: string): Promise<StoredSession> {
  const host = await discover(surroundings, authUrl);
  checkIssuer(host, authUrl);
  if (host.deviceEndpoint === undefined)
    throw new Failure('failed', `${authUrl} cannot have people sign in with a browser on another machine`);
  const scope = host.scopes.join(' ');
  const codes = await begin(surroundings, host.deviceEndpoint, scope);
  const { deviceCode, userCode, page, pageWithCode, lifetime } = codes;
  const short = pageWithCode === undefined ? '' : `The code is part of this address: ${pageWithCode}\n`;
  const where = 'Open this address in a browser on any machine and enter the code to sign in:';
  surroundings.err(
    `${where}\n\n  ${page}\n  ${userCode}\n\n${short}Waiting for up to ${Math.ceil(lifetime / 60)} minutes; Ctrl-C stops it\n`,
  );
  const form = { grant_type: grant, device_code: deviceCode, client_id: cliClientId };
  return poll(surroundings, codes, () =>
    requestTokens(surroundings, { authUrl, clientId: cliClientId, scope }, form),
  );
}

async function begin(surroundings: Surroundings, endpoint: string, scope: string): Promise<Codes> {
  const body = new URLSearchParams({ client_id: cliClientId, scope });
  const { status, json } = await send(surroundings, endpoint, { method: 'POST', body });
  if (status !== 200) throw grantRefusal(endpoint, status, json);
  const { device_code: deviceCode, expires_in: lifetime, interval = step } = fieldsOf(json);
  const userCode = textOf(json, 'user_code');
  const page = textOf(json, 'verification_uri');
  if (
    typeof deviceCode !== 'string' ||
    typeof lifetime !== 'number' ||
    typeof interval !== 'number' ||
    userCode === undefined ||
    page === undefined
  )
    throw notUnderstood(endpoint, status);
  const pageWithCode = textOf(json, 'verification_uri_complete');
  return { deviceCode, userCode, page, pageWithCode, lifetime, interval: Math.max(1, interval) };
}

/** Asks until the person has decided (RFC 8628 §3.4, §3.5). */
async function poll(
  { clock, sleep }: Surroundings,
  { lifetime, interval }: Codes,
  ask: () => Promise<StoredSession>,
): Promise<StoredSession> {
  const deadline = clock.monotonic() + lifetime * 1000;
  for (let wait = interval; ; ) {
    await sleep(wait * 1000);
    if (clock.monotonic() >= deadline) throw tooLate();
    try {
      return await ask();
    } catch (error) {
      wait = waitAfter(error, wait);
    }
  }
}

/** How long to wait after a poll that gave nothing, s. @throws what ends the polling */
function waitAfter(error: unknown, wait: number): number {
  if (error instanceof GrantRefused) {
    if (error.code === 'authorization_pending') return wait;
    if (error.code === 'slow_down') return wait + step;
    if (error.code === 'access_denied')
      throw new Failure('unauthorized', 'The sign-in was refused in the browser');
    throw error.code === 'expired_token' ? tooLate() : error;
  }
  if (error instanceof Failure && error.kind === 'unavailable') return 2 * wait;
  throw error;
}

function tooLate(): Failure {
  return new Failure('unauthorized', 'The sign-in was not completed in time; start again');
}
