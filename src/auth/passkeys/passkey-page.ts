import { passkeysOf } from '../../accounts/passkeys.ts';
import { maxPasskeys, relyingPartyId } from '../../contract/passkeys.ts';
import type { Handler, Reply, Request } from '../../http/types.ts';
import type { TokenSettings } from '../access-token.ts';
import { BrowserCookie } from '../browser.ts';
import { consoleClientId, findClient } from '../clients.ts';
import { userAgentOf } from '../draft-sign-in.ts';
import { pageEndpoints } from '../page-endpoints.ts';
import { failurePage, refusalPage } from '../pages/failure-page.ts';
import type { FormError, FormPage } from '../pages/form-page.ts';
import { addPasskeyPage } from '../pages/passkey-pages.ts';
import { loginPage } from '../pages/sign-in-pages.ts';
import {
  type FormPurpose,
  type FormSettings,
  formPage,
  type PostedForm,
  readPostedForm,
} from '../posted-form.ts';
import { stepPage } from '../second-factor-form.ts';
import { signInByForm } from '../sign-in-form.ts';
import { type CurrentSignIn, currentSignIn } from '../sign-ins.ts';
import { registerPasskey } from './add-passkey.ts';
import { readAttestation } from './web-authn.ts';

export interface PasskeyPageDeps extends FormSettings, Pick<TokenSettings, 'audience'> {}

/** Maximum age of a sign-in that may add a passkey, seconds. */
const recentSeconds = 900;

const access = { credential: 'None; the cookie of the sign-in page', who: 'The signed-in user' };

const answers = {
  200: 'The page, or the sign-in page if the sign-in is older than 15 minutes.',
  400: 'A page: browsers allow no passkeys at this URL, or the form is malformed.',
};

/**
 * `GET` and `POST /connect/passkey`: where users add a passkey. The page is on the auth host, because browsers bind passkeys to the
 * host of the sign-in page. The console may have another one.
 */
export const passkeyPageEndpoints = pageEndpoints<PasskeyPageDeps>('/connect/passkey', access, {
  GET: {
    operationId: 'showPasskeyPage',
    summary: 'Show the page for adding a passkey',
    answers,
    bind: (deps) => pageHandler(deps, show),
  },
  POST: {
    operationId: 'addPasskey',
    summary: 'Add a passkey',
    description: 'The body is the form of the page.',
    answers: {
      ...answers,
      303: 'To the console, which lists the passkeys.',
      403: 'The page again: the form is not valid.',
      429: 'The page again: too many attempts have failed.',
      503: 'The page again: the service is busy.',
    },
    bind: (deps) => pageHandler(deps, decide),
  },
});

const impossible =
  'Browsers allow passkeys only at an https URL with a host name, or on localhost. Set --auth-url to such a URL';

function pageHandler(
  deps: PasskeyPageDeps,
  answer: (deps: PasskeyPageDeps, request: Request, purpose: FormPurpose) => Promise<Reply>,
): Handler {
  return async (request) => {
    if (relyingPartyId(deps.issuer) === undefined) return failurePage(400, impossible);
    try {
      return await answer(deps, request, purposeOf(deps));
    } catch (error) {
      return refusalPage(error);
    }
  };
}

/** The user comes from the console, and returns there. */
function purposeOf({ directory, audience }: PasskeyPageDeps): FormPurpose {
  return { client: findClient(directory, consoleClientId)!, redirectUri: `${audience}/settings/you` };
}

async function show(deps: PasskeyPageDeps, request: Request, purpose: FormPurpose): Promise<Reply> {
  const signIn = await currentSignIn(deps, new BrowserCookie(deps.issuer).read(request));
  return pageFor(deps, formPage(deps, request, purpose), signIn);
}

/** The next page of a browser: the sign-in page, or the one that adds a passkey. */
function pageFor(
  deps: PasskeyPageDeps,
  page: FormPage,
  signIn: CurrentSignIn | undefined,
  error?: FormError,
): Reply | Promise<Reply> {
  if (signIn === undefined || !isRecent(deps, signIn)) return loginPage(page, signIn?.user.email ?? '');
  const { user } = signIn;
  if (!mayAdd(signIn)) return stepPage(deps, page, signIn);
  const isFull = passkeysOf(deps.accountStore, user.id).length >= maxPasskeys;
  return addPasskeyPage(page, user, isFull, error);
}

/** A passkey may be the second factor that the policy demands. */
function mayAdd({ missing }: CurrentSignIn): boolean {
  return missing === undefined || missing === 'enrolment';
}

function isRecent({ clock }: PasskeyPageDeps, { authTime }: CurrentSignIn): boolean {
  return clock.now() / 1000 - authTime <= recentSeconds;
}

async function decide(deps: PasskeyPageDeps, request: Request, purpose: FormPurpose): Promise<Reply> {
  const posted = await readPostedForm(deps, request, purpose);
  if ('reply' in posted) return posted.reply;
  switch (posted.form.get('action')) {
    case 'cancel':
      return toConsole(purpose);
    case 'switch':
      return loginPage(formPage(deps, request, purpose), '');
    case 'add-passkey':
      return add(deps, posted);
    default: {
      const result = await signInByForm(deps, posted);
      if ('reply' in result) return result.reply;
      const page = { ...formPage(deps, request, purpose), browser: result.browser, cookie: result.cookie };
      return pageFor(deps, page, result.signIn);
    }
  }
}

async function add(deps: PasskeyPageDeps, { request, purpose, form, browser }: PostedForm): Promise<Reply> {
  const signIn = await currentSignIn(deps, browser);
  const page = formPage(deps, request, purpose);
  if (signIn === undefined || !isRecent(deps, signIn) || !mayAdd(signIn)) return pageFor(deps, page, signIn);
  const result = await registerPasskey(deps, signIn, {
    attestation: readAttestation(form),
    name: (form.get('name') ?? '').trim(),
    ...{ address: request.remoteAddress, browser, userAgent: userAgentOf(request) },
  });
  if (result.outcome === 'added') return toConsole(purpose);
  return pageFor(deps, page, signIn, { status: 400, text: result.fault });
}

function toConsole({ redirectUri }: FormPurpose): Reply {
  return { status: 303, headers: { location: redirectUri ?? '/', 'cache-control': 'no-store' } };
}
