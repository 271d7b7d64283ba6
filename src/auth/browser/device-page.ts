import Type from 'typebox';
import { Refusal } from '../../contract/errors.ts';
import { text } from '../../contract/shapes/fields.ts';
import { isRecentSignIn } from '../../contract/step-up.ts';
import { parseQuery } from '../../http/pairs.ts';
import type { Handler, HttpResponse, Request } from '../../http/types.ts';
import { findNetwork } from '../../runtime/addresses.ts';
import type { OAuthClient } from '../../storage/lmdb/records.ts';
import { BrowserCookie } from '../cookies/browser.ts';
import { findClient, maySignIn } from '../oauth/clients.ts';
import type { WaitingDevice } from '../oauth/device-codes.ts';
import { type CurrentSignIn, currentSignIn } from '../oauth/sign-ins.ts';
import { pageEndpoints } from './forms/page-endpoints.ts';
import { formPage, notAMember, type PageServices, readPostedForm } from './forms/posted-form.ts';
import { stepPage } from './forms/second-factor-form.ts';
import { signInByForm } from './forms/sign-in-form.ts';
import { refusalPage } from './pages/failure-page.ts';
import { type FormPage, formResponse } from './pages/form-page.ts';
import { html } from './pages/html.ts';
import { pageResponse } from './pages/page.ts';
import { loginPage } from './pages/sign-in-pages.ts';

/** A waiting device and its client, found by the user code in the address of the page. */
interface DeviceMatch {
  readonly device: WaitingDevice;
  readonly client: OAuthClient;
  readonly redirectUri: null;
}

const responses = {
  200: 'The page for the code, the sign-in page, a page that asks for confirmation, or the result.',
  404: 'The page is shown again: the code is wrong or has expired.',
  429: 'An error page: too many wrong codes.',
};

const access = { credential: 'No credentials, or the cookie of the sign-in page', who: 'Anyone with a browser' };
const query = Type.Object({ user_code: Type.Optional(text('The code that the device shows.')) });

/**
 * `GET` and `POST /connect/device`: a user enters the code that a device shows, and allows or denies access (RFC 8628
 * §3.3).
 */
export const devicePageEndpoints = pageEndpoints<PageServices>('/connect/device', access, {
  GET: {
    operationId: 'showDevicePage',
    summary: 'Enter the code of a device',
    query,
    responses,
    bind: (services) => pageHandler(services, show),
  },
  POST: {
    operationId: 'postDevicePage',
    summary: 'Allow or deny a device to act for the user',
    description: 'The body is the form of the page.',
    query,
    responses: {
      ...responses,
      403: 'The page is shown again: the form is not valid.',
      503: 'The page is shown again: the service is busy.',
    },
    bind: (services) => pageHandler(services, decide),
  },
});

function pageHandler(
  services: PageServices,
  handle: (services: PageServices, request: Request, found: DeviceMatch) => HttpResponse | Promise<HttpResponse>,
): Handler {
  return async (request) => {
    try {
      const typed = parseQuery(request.query).get('user_code') ?? '';
      if (typed.trim() === '') return codePage();
      const found = find(services, request, typed);
      return found === undefined ? codePage(typed) : await handle(services, request, found);
    } catch (error) {
      return refusalPage(error);
    }
  };
}

/**
 * Finds the device by its user code. After too many wrong codes, even a correct code is rejected for a while (RFC 8628
 * §5.1).
 * @throws {Refusal} `rate_limited`
 */
function find({ devices, directory }: PageServices, request: Request, typed: string): DeviceMatch | undefined {
  const network = findNetwork(request.remoteAddress);
  const now = directory.clock.monotonic();
  const wait = devices.guesses.wait(network, now);
  if (wait > 0) throw new Refusal('rate_limited', 'Too many wrong codes; wait, then retry', wait);
  const device = devices.find(typed);
  const client = device && findClient(directory, device.clientId);
  if (device !== undefined && client !== undefined) return { device, client, redirectUri: null };
  devices.guesses.take(network, now);
  return undefined;
}

async function show(services: PageServices, request: Request, found: DeviceMatch): Promise<HttpResponse> {
  const page = formPage(services, request, found);
  const signIn = await currentSignIn(services, new BrowserCookie(services.issuer).read(request));
  if (signIn === undefined) return loginPage(page, '');
  const { email } = signIn.user;
  if (!isRecent(services, signIn)) return loginPage(page, email);
  if (!maySignIn(signIn.user, found.client)) return loginPage(page, '', notAMember(email, found));
  return signIn.missing === undefined ? devicePage(page, found.device, email) : stepPage(services, page, signIn);
}

async function decide(services: PageServices, request: Request, found: DeviceMatch): Promise<HttpResponse> {
  const posted = await readPostedForm(services, request, found);
  if ('response' in posted) return posted.response;
  switch (posted.form.get('action')) {
    case 'cancel':
      return deny(services, found);
    case 'switch':
      return loginPage(formPage(services, request, found), '');
    case 'enrolled':
      return show(services, request, found);
    case 'continue': {
      const signIn = await currentSignIn(services, posted.browser);
      return signIn !== undefined && mayAllow(services, found, signIn)
        ? allow(services, request, found, signIn)
        : show(services, request, found);
    }
    default: {
      const result = await signInByForm(services, posted);
      if ('response' in result) return result.response;
      // A sign-in is not consent: an attacker can have sent the address of this page (RFC 8628 §5.4).
      const page = { ...formPage(services, request, found), browser: result.browser, cookie: result.cookie };
      return devicePage(page, found.device, result.signIn.user.email);
    }
  }
}

function mayAllow(services: PageServices, { client }: DeviceMatch, signIn: CurrentSignIn): boolean {
  return isRecent(services, signIn) && maySignIn(signIn.user, client) && signIn.missing === undefined;
}

/** True if a sign-in is recent enough to allow a device, which can then make dangerous changes. */
function isRecent({ clock }: PageServices, { authTime }: CurrentSignIn): boolean {
  return isRecentSignIn(authTime, clock.now());
}

async function deny({ directory, devices }: PageServices, { device, client }: DeviceMatch): Promise<HttpResponse> {
  const isDone = await directory.change((tx) => devices.decide(tx, device, 'denied'));
  return isDone ? deviceDonePage(client.name, false) : codePage(device.userCode);
}

async function allow(
  { directory, devices }: PageServices,
  { remoteAddress }: Request,
  { device, client }: DeviceMatch,
  { key: signIn, user, authTime, authentication }: CurrentSignIn,
): Promise<HttpResponse> {
  const target = { type: 'sign-in-client', id: client.clientId, name: client.name };
  const allowance = { userId: user.id, signIn, authTime, scope: device.scope, authentication };
  const isDone = await directory.under({ id: user.id, address: remoteAddress }).change((tx) => {
    if (!devices.decide(tx, device, allowance)) return false;
    for (const teamId of user.teams) tx.note('device.allowed', teamId, target);
    return true;
  });
  return isDone ? deviceDonePage(client.name, true) : codePage(device.userCode);
}

const longestCode = 32;

/**
 * The page on which a user enters the code that a device shows (RFC 8628 §3.3).
 * @param wrong the previous input, which was not a valid code
 */
function codePage(wrong?: string): HttpResponse {
  const error = wrong !== undefined;
  const described = html` aria-invalid="true" aria-describedby="error"`;
  return pageResponse({
    status: error ? 404 : 200,
    title: error ? 'Error: Connect a device' : 'Connect a device',
    formTargets: [],
    content: html`<h1>Connect a device</h1>
<p>Enter the code that the device or the command line shows.</p>
${error ? html`<p class="error" id="error" role="alert">This code is wrong or has expired.</p>` : undefined}
<form method="get">
<label for="user_code">Code</label>
<input id="user_code" name="user_code" type="text" autocomplete="off" autocapitalize="characters"
 autocorrect="off" spellcheck="false" maxlength="${longestCode}" required autofocus
 value="${wrong?.slice(0, longestCode) ?? ''}"${error ? described : undefined}>
<button>Continue</button>
</form>`,
  });
}

/** The page on which a user allows a device. An attacker can have sent its address (RFC 8628 §5.4). */
function devicePage(page: FormPage, { userCode, address }: WaitingDevice, email: string): HttpResponse {
  return formResponse(page, {
    title: 'Connect this device?',
    heading: `Connect ${page.clientName}?`,
    intro: html`<p>The request comes from <strong>${address}</strong>. The device shows the code <strong>${userCode}</strong>, and will act as
<strong>${email}</strong>.</p>
<p class="note">Continue only if you have just started this yourself and the device shows the same code.</p>`,
    form: html`<button name="action" value="continue">Continue</button>
<button class="other" name="action" value="switch">Use another account</button>
<button class="other" name="action" value="cancel">Cancel</button>`,
  });
}

function deviceDonePage(clientName: string, allowed: boolean): HttpResponse {
  const [title, text] = allowed
    ? ['Device connected', html`${clientName} continues automatically. You can close this page.`]
    : ['Device not connected', html`${clientName} gets no access. You can close this page.`];
  return pageResponse({ status: 200, title, content: html`<h1>${title}</h1>\n<p>${text}</p>` });
}
