import { listPasskeys } from '../../accounts/passkeys.ts';
import { renewRecoveryCodes } from '../../accounts/second-factors.ts';
import { Refusal } from '../../contract/errors.ts';
import { maxPasskeys, relyingPartyId } from '../../contract/sign-in.ts';
import { isRecentSignIn } from '../../contract/step-up.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { Handler, HttpResponse, Request } from '../../http/types.ts';
import { BrowserCookie } from '../cookies/browser.ts';
import { registerPasskey } from '../factors/passkeys/add-passkey.ts';
import { addAuthenticator } from '../factors/second-factor.ts';
import { consoleClientId, findClient } from '../oauth/clients.ts';
import { type CurrentSignIn, currentSignIn } from '../oauth/sign-ins.ts';
import { pageEndpoints } from './forms/page-endpoints.ts';
import { readNewPasskey } from './forms/passkey-form.ts';
import { type FormPurpose, formPage, type PageServices, type PostedForm, readPostedForm } from './forms/posted-form.ts';
import { enrolmentSecretIn, showEnrolmentPage, stepPage, wrongCode } from './forms/second-factor-form.ts';
import { signInByForm } from './forms/sign-in-form.ts';
import { failurePage, refusalPage } from './pages/failure-page.ts';
import type { FormError, FormPage } from './pages/form-page.ts';
import { linkAccountPage } from './pages/provider-pages.ts';
import { addPasskeyPage, authenticatorPage, recoveryCodesPage } from './pages/second-factor-pages.ts';
import { loginPage } from './pages/sign-in-pages.ts';
import { leadToLink } from './sso/start.ts';

/*
 * Pages on which users change the way they sign in. The auth host first requires a recent sign-in, so a console session
 * or a stolen token is not enough. The user comes from the console and returns there.
 */

interface AccountPage {
  /** Returns an error page if this page is not available at this URL. */
  readonly refuse?: (services: PageServices) => HttpResponse | undefined;
  /** True if this page can also complete a sign-in, by adding the factor that the sign-in lacks. */
  readonly completes?: true;
  readonly show: (
    services: PageServices,
    page: FormPage,
    signIn: CurrentSignIn,
  ) => HttpResponse | Promise<HttpResponse>;
  /** Handlers of the form, by the value of the pressed button. */
  readonly actions: Readonly<Record<string, Act>>;
}

/** @param page the content of the next page */
type Act = (
  services: PageServices,
  posted: PostedForm,
  signIn: CurrentSignIn,
  page: FormPage,
) => HttpResponse | Promise<HttpResponse>;

/** Operation ids, summaries and responses of a page's endpoints. */
interface Words {
  readonly GET: { readonly operationId: string; readonly summary: string };
  readonly POST: { readonly operationId: string; readonly summary: string };
  readonly responses?: Readonly<Record<number, string>>;
  readonly posted: Readonly<Record<number, string>>;
}

const access = { credential: 'Cookie of the sign-in page', who: 'The signed-in user' };

function accountEndpoints(
  path: string,
  page: AccountPage,
  { GET, POST, responses, posted }: Words,
): readonly Endpoint<PageServices>[] {
  const all = { 200: 'The requested page, or the sign-in page if the sign-in is older than 15 minutes.', ...responses };
  const bind = (services: PageServices) => pageHandler(services, page);
  const busy = {
    429: 'The page is shown again: too many attempts have failed.',
    503: 'The page is shown again: the service is busy.',
  };
  return pageEndpoints(path, access, {
    GET: { ...GET, responses: all, bind },
    POST: {
      ...POST,
      description: 'The body is the form of the page.',
      responses: { ...all, ...busy, ...posted },
      bind,
    },
  });
}

function pageHandler(services: PageServices, page: AccountPage): Handler {
  return async (request) => {
    const refused = page.refuse?.(services);
    if (refused !== undefined) return refused;
    try {
      return await (request.method === 'POST' ? decide : show)(services, request, page);
    } catch (error) {
      return refusalPage(error);
    }
  };
}

async function show(services: PageServices, request: Request, page: AccountPage): Promise<HttpResponse> {
  const signIn = await currentSignIn(services, new BrowserCookie(services.issuer).read(request));
  return next(services, page, formPage(services, request, createPurpose(services)), signIn);
}

async function decide(services: PageServices, request: Request, page: AccountPage): Promise<HttpResponse> {
  const purpose = createPurpose(services);
  const posted = await readPostedForm(services, request, purpose);
  if ('response' in posted) return posted.response;
  const action = posted.form.get('action') ?? '';
  const shown = formPage(services, request, purpose);
  if (action === 'cancel') return backToConsole(purpose);
  if (action === 'switch') return loginPage(shown, '');
  const signIn = await currentSignIn(services, posted.browser);
  const act = Object.hasOwn(page.actions, action) ? page.actions[action] : undefined;
  if (act !== undefined && signIn !== undefined && isComplete(page, signIn))
    return isRecent(services, signIn) ? act(services, posted, signIn, shown) : next(services, page, shown, signIn);
  const result = await signInByForm(services, posted);
  if ('response' in result) return result.response;
  return next(services, page, { ...shown, browser: result.browser, cookie: result.cookie }, result.signIn);
}

/** Returns the page to show next: the sign-in page, the page of the missing step, or the requested page. */
function next(
  services: PageServices,
  page: AccountPage,
  shown: FormPage,
  signIn: CurrentSignIn | undefined,
): HttpResponse | Promise<HttpResponse> {
  if (signIn === undefined || !isRecent(services, signIn)) return loginPage(shown, signIn?.user.email ?? '');
  return isComplete(page, signIn) ? page.show(services, shown, signIn) : stepPage(services, shown, signIn);
}

function isRecent({ clock }: PageServices, { authTime }: CurrentSignIn): boolean {
  return isRecentSignIn(authTime, clock.now());
}

function isComplete({ completes }: AccountPage, { missing }: CurrentSignIn): boolean {
  return missing === undefined || (completes === true && missing === 'enrolment');
}

function createPurpose({ directory, audience }: PageServices): FormPurpose {
  return { client: findClient(directory, consoleClientId)!, redirectUri: `${audience}/settings/you` };
}

function backToConsole({ redirectUri }: FormPurpose): HttpResponse {
  return { status: 303, headers: { location: redirectUri ?? '/', 'cache-control': 'no-store' } };
}

/** `GET` and `POST /connect/authenticator`: users set up an authenticator app, or get new recovery codes. */
export const authenticatorPageEndpoints = accountEndpoints(
  '/connect/authenticator',
  {
    show: showAuthenticator,
    actions: { enrol, 'recovery-codes': newCodes, enrolled: (_services, { purpose }) => backToConsole(purpose) },
  },
  {
    GET: { operationId: 'showAuthenticatorPage', summary: 'Show the page for two-step verification' },
    POST: { operationId: 'changeAuthenticator', summary: 'Set up an authenticator app, or get new recovery codes' },
    posted: {
      303: 'Redirect to the console.',
      403: 'The page is shown again: the code is wrong, or the form is not valid.',
    },
  },
);

function showAuthenticator(
  services: PageServices,
  page: FormPage,
  { user }: CurrentSignIn,
): HttpResponse | Promise<HttpResponse> {
  const totp = services.accountStore.get('totp', user.id);
  return totp === undefined
    ? showEnrolmentPage(services, page, user.email)
    : authenticatorPage(page, user.email, totp.recoveryCodes.length);
}

async function enrol(
  services: PageServices,
  posted: PostedForm,
  signIn: CurrentSignIn,
  page: FormPage,
): Promise<HttpResponse> {
  const { request, form } = posted;
  const secret = enrolmentSecretIn(services, posted);
  if (secret === undefined || services.accountStore.get('totp', signIn.user.id))
    return showAuthenticator(services, page, signIn);
  const enrolment = { secret, code: form.get('code') ?? '' };
  const codes = await addAuthenticator(services, signIn, request.remoteAddress, enrolment);
  if (codes !== undefined) return recoveryCodesPage(page, codes);
  return showEnrolmentPage(services, page, signIn.user.email, { secret, error: wrongCode });
}

async function newCodes(
  services: PageServices,
  { request }: PostedForm,
  signIn: CurrentSignIn,
  page: FormPage,
): Promise<HttpResponse> {
  const { id } = signIn.user;
  const directory = services.directory.under({ id, address: request.remoteAddress });
  try {
    const codes = await directory.change((tx) => renewRecoveryCodes(tx, id, services.randomBytes));
    return recoveryCodesPage(page, codes);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not_found') return showAuthenticator(services, page, signIn);
    throw error;
  }
}

const impossible =
  'Browsers allow passkeys only at an https URL with a host name, or on localhost. Set --auth-url to such a URL';

/**
 * `GET` and `POST /connect/passkey`: users add a passkey. Browsers bind passkeys to the host of the sign-in page, so
 * this page is not part of the console, which can have another host.
 */
export const passkeyPageEndpoints = accountEndpoints(
  '/connect/passkey',
  {
    refuse: ({ issuer }) => (relyingPartyId(issuer) === undefined ? failurePage(400, impossible) : undefined),
    completes: true,
    show: showPasskey,
    actions: { 'add-passkey': addPasskey },
  },
  {
    GET: { operationId: 'showPasskeyPage', summary: 'Show the page for adding a passkey' },
    POST: { operationId: 'addPasskey', summary: 'Add a passkey' },
    responses: { 400: 'An error page: browsers allow no passkeys at this URL, or the form is malformed.' },
    posted: {
      303: 'Redirect to the console, which lists the passkeys.',
      403: 'The page is shown again: the form is not valid.',
    },
  },
);

function showPasskey(
  { accountStore }: PageServices,
  page: FormPage,
  { user }: CurrentSignIn,
  error?: FormError,
): HttpResponse {
  const isFull = listPasskeys(accountStore, user.id).length >= maxPasskeys;
  return addPasskeyPage(page, user, isFull, error);
}

async function addPasskey(
  services: PageServices,
  posted: PostedForm,
  signIn: CurrentSignIn,
  page: FormPage,
): Promise<HttpResponse> {
  const result = await registerPasskey(services, signIn, readNewPasskey(posted), () => undefined);
  if (result.outcome === 'added') return backToConsole(posted.purpose);
  return showPasskey(services, page, signIn, { status: 400, text: result.fault });
}

/** `GET` and `POST /connect/identities`: users link accounts at identity providers to their own account. */
export const linkPageEndpoints = accountEndpoints(
  '/connect/identities',
  { show: showLinks, actions: { link } },
  {
    GET: { operationId: 'showLinkPage', summary: 'Show the page for linking an account at an identity provider' },
    POST: { operationId: 'linkAccount', summary: 'Link an account at an identity provider' },
    posted: {
      303: 'Redirect to the console.',
      403: 'The page is shown again: the form is not valid.',
      503: 'An error page: the provider cannot be reached.',
    },
  },
);

function showLinks({ providers, accountStore }: PageServices, page: FormPage, { user }: CurrentSignIn): HttpResponse {
  return linkAccountPage(page, user, providers.linkable(accountStore, user));
}

async function link(
  services: PageServices,
  { form, browser }: PostedForm,
  signIn: CurrentSignIn,
  page: FormPage,
): Promise<HttpResponse> {
  const { providers, accountStore } = services;
  const { key: linkTo, user } = signIn;
  const provider = providers.linkable(accountStore, user).find(({ id }) => id === form.get('provider'));
  if (provider === undefined) return showLinks(services, page, signIn);
  return leadToLink(services, browser, provider, user, { page: 'identities', linkTo });
}
