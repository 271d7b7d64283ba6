import { redeemInvitation, userOfLink } from '../../accounts/invitations.ts';
import { commonPassword, typedFault } from '../../accounts/password-rules.ts';
import { hashSecret } from '../../accounts/secrets.ts';
import { mayUsePassword, requiredProvider } from '../../accounts/sign-in-policy.ts';
import { applyUserPatch } from '../../accounts/users.ts';
import { Refusal } from '../../contract/errors.ts';
import type { LinkPurpose } from '../../contract/shapes/invitation.ts';
import { passwordLength } from '../../contract/sign-in.ts';
import type { Handler, HttpResponse, Request } from '../../http/types.ts';
import type { IdentityProvider } from '../../storage/lmdb/auth-records.ts';
import type { User } from '../../storage/lmdb/records.ts';
import { type Browser, BrowserCookie } from '../cookies/browser.ts';
import { countAttempt, forgiveAttempt } from '../factors/login-throttle.ts';
import type { SignInServices } from '../factors/sign-in.ts';
import { consoleClientId, findClient } from '../oauth/clients.ts';
import { type RecordedSignIn, readUserAgent, recordSignIn } from '../oauth/record-sign-in.ts';
import { endUserSessions } from '../oauth/sessions.ts';
import { pageEndpoints } from './forms/page-endpoints.ts';
import {
  busy,
  type FormPurpose,
  formPage,
  type PageServices,
  type PostedForm,
  readPostedForm,
  throttled,
} from './forms/posted-form.ts';
import { refusalPage } from './pages/failure-page.ts';
import { errorAttributes, type FormError, type FormPage, formResponse } from './pages/form-page.ts';
import { type Html, html } from './pages/html.ts';
import { pageScript } from './pages/page.ts';
import { leadToLink } from './sso/start.ts';

const path = '/connect/invitation';

/** The link for a user. The secret is in the fragment, which browsers do not send to a server. */
export function invitationUrl(issuer: string, token: string): string {
  return `${issuer}${path}#${token}`;
}

const overError: FormError = {
  status: 403,
  text: 'This link is not valid. It was used, replaced or withdrawn, or it has expired. Ask an administrator for a new one.',
  typed: true,
};

const staleError: FormError = {
  status: 403,
  text: 'This page is out of date, or the browser rejects cookies. Open the link again.',
};

const access = { credential: 'The secret of a link', who: 'The user of the link' };

/** `GET` and `POST /connect/invitation`: the user of an invitation or a reset link chooses a password. */
export const invitationPageEndpoints = pageEndpoints<PageServices>(path, access, {
  GET: {
    operationId: 'showInvitationPage',
    summary: 'Open an invitation or a reset link',
    responses: { 200: 'The page, which reads the secret from the fragment of its address.' },
    bind: (services) => pageHandler((request) => linkPage(createPage(services, request))),
  },
  POST: {
    operationId: 'postInvitationPage',
    summary: 'Choose a password with an invitation or a reset link',
    description: 'The body is the form of the page.',
    responses: {
      200: 'The page for the password, or a page that leads to an identity provider.',
      303: 'Redirect to the console: the user is signed in.',
      400: 'The page is shown again: the password is not valid.',
      403: 'The page is shown again: the link or the form is not valid.',
      429: 'The page is shown again: too many attempts have failed.',
      503: 'The page is shown again: the service is busy.',
    },
    bind: (services) => pageHandler((request) => handleForm(services, request)),
  },
});

function pageHandler(handle: (request: Request) => HttpResponse | Promise<HttpResponse>): Handler {
  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      return refusalPage(error);
    }
  };
}

/** The purpose of the page, which is to sign in to the console. */
function createPurpose({ directory, audience }: PageServices): FormPurpose {
  return { client: findClient(directory, consoleClientId)!, redirectUri: `${audience}/console/sign-in` };
}

function createPage(services: PageServices, request: Request) {
  return formPage(services, request, createPurpose(services));
}

async function handleForm(services: PageServices, request: Request): Promise<HttpResponse> {
  const page = createPage(services, request);
  const posted = await readPostedForm(services, request, createPurpose(services), () => linkPage(page, staleError));
  if ('response' in posted) return posted.response;
  const { form, browser } = posted;
  const token = secretIn(form.get('token') ?? '');
  const presented = { token, address: request.remoteAddress, browser };
  if (form.get('action') === 'accept') return acceptByForm(services, posted, presented);
  try {
    const found = await findLink(services, presented);
    if (found.outcome !== 'valid') return linkPage(page, rejection(found));
    const provider = providersFor(services, found.user).find(({ id }) => id === form.get('provider'));
    if (provider === undefined) return choosePasswordPage(page, token, invited(services, found.user));
    return await leadToLink(services, browser, provider, found.user, { page: 'invitation', link: token });
  } catch (error) {
    return linkPage(page, busy(error));
  }
}

async function acceptByForm(
  services: PageServices,
  { request, form }: PostedForm,
  presented: PresentedLink,
): Promise<HttpResponse> {
  const page = createPage(services, request);
  const typed = { password: form.get('password') ?? '', again: form.get('again') ?? '' };
  try {
    const result = await acceptInvitation(services, { ...presented, ...typed, userAgent: readUserAgent(request) });
    switch (result.outcome) {
      case 'signed-in':
        return enterConsole(services, new BrowserCookie(services.issuer).write(result.browser));
      case 'refused': {
        const fault = { status: 400, text: result.fault, typed: true };
        return choosePasswordPage(page, presented.token, invited(services, result.user), fault);
      }
      case 'not-a-member':
        return linkPage(page, overError);
      default:
        return linkPage(page, rejection(result));
    }
  } catch (error) {
    const found = await findLink(services, presented);
    if (found.outcome !== 'valid') return linkPage(page, rejection(found));
    return choosePasswordPage(page, presented.token, invited(services, found.user), busy(error));
  }
}

/** The secret in the typed text. People can paste the whole link or only the secret. */
function secretIn(typed: string): string {
  return typed.slice(typed.indexOf('#') + 1).trim();
}

function rejection(found: Exclude<FoundLink, { outcome: 'valid' }>): FormError {
  return found.outcome === 'over' ? overError : throttled(found.wait);
}

/** The enabled providers, or only the provider that the e-mail domain of the user requires. */
function providersFor({ accountStore, providers }: PageServices, user: User) {
  const required = requiredProvider(accountStore, user);
  return providers.enabled().filter(({ id }) => required === undefined || id === required);
}

function invited(services: PageServices, user: User): InvitedUser {
  const { name, email, teams, invitation } = user;
  const names = teams.map((id) => services.directory.teams.get(id)?.name ?? id);
  return {
    purpose: invitation!.purpose,
    name,
    email,
    teams: names,
    mayUsePassword: mayUsePassword(services.accountStore, user),
    providers: providersFor(services, user),
  };
}

function enterConsole({ audience }: PageServices, cookie: string): HttpResponse {
  const headers = { location: `${audience}/console/sign-in`, 'cache-control': 'no-store', 'set-cookie': cookie };
  return { status: 303, headers: { ...headers, 'referrer-policy': 'no-referrer' } };
}

interface PresentedLink {
  readonly token: string;
  readonly address: string;
  readonly browser: Browser;
}

/** `over`: the link was used, replaced or withdrawn, or has expired. `throttled`: wait this many seconds. */
type LinkRefusal = { readonly outcome: 'over' } | { readonly outcome: 'throttled'; readonly wait: number };

type FoundLink = { readonly outcome: 'valid'; readonly user: User } | LinkRefusal;

/**
 * Finds the user of a link. Attempts are throttled in the same way as sign-ins, with the link in place of the account.
 * @throws {Refusal} `store_unavailable`
 */
async function findLink(services: SignInServices, presented: PresentedLink): Promise<FoundLink> {
  const { directory, clock } = services;
  const { token, address, browser } = presented;
  const attempt = { email: `link ${hashSecret(token)}`, address, browser };
  const counted = await countAttempt(services, attempt);
  if (counted.wait > 0) return { outcome: 'throttled', wait: counted.wait };
  const user = userOfLink(directory, token, clock.now());
  if (user === undefined) return { outcome: 'over' };
  await forgiveAttempt(services, attempt, counted);
  return { outcome: 'valid', user };
}

interface TypedForLink extends PresentedLink {
  readonly password: string;
  readonly again: string;
  readonly userAgent: string;
}

type AcceptResult =
  | RecordedSignIn
  | LinkRefusal
  | { readonly outcome: 'refused'; readonly user: User; readonly fault: string };

const noPasswords = 'You cannot use a password here. Continue with an identity provider.';

/**
 * Sets the password of a link's user, ends the user's sessions, and signs the user in to the console.
 * @throws {Refusal} `rate_limited`, `backpressure`, `store_unavailable`
 */
export async function acceptInvitation(services: SignInServices, typed: TypedForLink): Promise<AcceptResult> {
  const { directory, clock } = services;
  const { token, password, address, browser, userAgent } = typed;
  const found = await findLink(services, typed);
  if (found.outcome !== 'valid') return found;
  const { id, email } = found.user;
  const fault = typedFault(typed, email);
  if (fault !== undefined) return { outcome: 'refused', user: found.user, fault };
  const passwordHash = await hashUncommon(services, password, id);
  if (passwordHash === undefined)
    return { outcome: 'refused', user: found.user, fault: `The password ${commonPassword}.` };
  return directory.under({ id, address }).change((tx) => {
    const now = clock.now();
    // The policy might have changed since the page was shown, so it is checked again.
    if (!mayUsePassword(tx, found.user)) return { outcome: 'refused', user: found.user, fault: noPasswords };
    const user = redeemInvitation(tx, token, now);
    if (user === undefined) return { outcome: 'over' };
    const patched = applyUserPatch(tx, user, { passwordHash }, now, { factors: ['invitation'] });
    endUserSessions({ clock }, tx, id);
    const client = findClient(tx, consoleClientId)!;
    const authentication = { factors: ['invitation', 'password'], userAgent } as const;
    return recordSignIn(services, tx, patched, { client, browser, authentication });
  });
}

/** @returns `undefined` for a common password */
async function hashUncommon(
  { passwords, randomBytes }: SignInServices,
  password: string,
  caller: string,
): Promise<string | undefined> {
  try {
    return await passwords.hash(password, randomBytes, caller);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'invalid_body') return undefined;
    throw error;
  }
}

/** Submits the secret in the fragment of the address, and removes the fragment from the address. */
const moveSecret = pageScript(`
const secret = location.hash.slice(1);
if (secret !== '') {
  history.replaceState(null, '', location.pathname);
  const field = document.getElementById('token');
  field.value = secret;
  field.form.requestSubmit();
}
`);

const longestLink = 2048;

/** The page of an invitation or reset link. If scripts are disabled, the user pastes the link. */
function linkPage(page: FormPage, error?: FormError): HttpResponse {
  return formResponse(page, {
    title: 'Open your link',
    intro: html`<p>Paste the link that an administrator gave you.</p>`,
    error,
    form: html`<label for="token">Link</label>
<input id="token" name="token" type="text" autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false"
 maxlength="${longestLink}" required autofocus${errorAttributes(error)}>
<button name="action" value="open">Continue</button>`,
    script: moveSecret,
  });
}

interface InvitedUser {
  readonly purpose: LinkPurpose;
  readonly name: string;
  readonly email: string;
  readonly teams: readonly string[];
  readonly mayUsePassword: boolean;
  /** The enabled identity providers with which the user can sign in later. */
  readonly providers: readonly Pick<IdentityProvider, 'id' | 'name'>[];
}

function choosePasswordPage(page: FormPage, token: string, invited: InvitedUser, error?: FormError): HttpResponse {
  const { purpose, name, email, teams, providers, mayUsePassword } = invited;
  const isNew = purpose === 'invitation';
  const places = teams.map((team, at) => html`${at === 0 ? '' : ', '}<strong>${team}</strong>`);
  const task = mayUsePassword
    ? html`Choose a password for <strong>${email}</strong>.${isNew ? '' : ' This signs you out everywhere else.'}`
    : providers.length > 0
      ? html`Choose how <strong>${email}</strong> signs in.`
      : html`The identity provider of <strong>${email}</strong> is disabled. Ask an administrator to enable it.`;
  return formResponse(page, {
    title: isNew ? 'Accept your invitation' : 'Choose a new password',
    intro: html`<p>${isNew ? html`${name}, you are invited to ${places}. ` : undefined}${task}</p>`,
    error,
    form: html`<input type="hidden" name="token" value="${token}">
${mayUsePassword ? passwordFields(email, error) : undefined}
${providers.map(({ id, name }) => html`<button class="other" name="provider" value="${id}" formnovalidate>Continue with ${name}</button>`)}`,
  });
}

function passwordFields(email: string, error: FormError | undefined): Html {
  const wrong = errorAttributes(error);
  const { minCharacters } = passwordLength;
  return html`<input type="text" name="email" value="${email}" autocomplete="username" readonly hidden>
<label for="password">New password, at least ${minCharacters} characters</label>
<input id="password" name="password" type="password" autocomplete="new-password"
 minlength="${minCharacters}" required autofocus${wrong}>
<label for="again">New password again</label>
<input id="again" name="again" type="password" autocomplete="new-password"
 minlength="${minCharacters}" required${wrong}>
<button name="action" value="accept">Save and sign in</button>`;
}
