import { mayUsePassword, requiredProvider } from '../../accounts/sign-in-policy.ts';
import type { Handler, Reply, Request } from '../../http/types.ts';
import type { User } from '../../storage/lmdb/records.ts';
import { BrowserCookie } from '../cookies/browser.ts';
import { consoleClientId, findClient } from '../oauth/clients.ts';
import { userAgentOf } from '../oauth/draft-sign-in.ts';
import { acceptInvitation, type FoundLink, findLink, type PresentedLink } from './accept-invitation.ts';
import { pageEndpoints } from './forms/page-endpoints.ts';
import type { PageServices } from './forms/posted-form.ts';
import {
  busy,
  type FormPurpose,
  formPage,
  type PostedForm,
  readPostedForm,
  throttled,
} from './forms/posted-form.ts';
import { refusalPage } from './pages/failure-page.ts';
import type { FormError } from './pages/form-page.ts';
import { choosePasswordPage, type Invited, linkPage } from './pages/invitation-pages.ts';
import { leadToLink } from './sso/start.ts';

const path = '/connect/invitation';

/** The link for a user. Its secret is in the fragment, which browsers send to no server. */
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

/** `GET` and `POST /connect/invitation`: where the user of an invitation or a reset link chooses a password. */
export const invitationPageEndpoints = pageEndpoints<PageServices>(path, access, {
  GET: {
    operationId: 'showInvitationPage',
    summary: 'Open an invitation or a reset link',
    answers: { 200: 'The page, which reads the secret from the fragment of its address.' },
    bind: (deps) => pageHandler((request) => linkPage(pageOf(deps, request))),
  },
  POST: {
    operationId: 'postInvitationPage',
    summary: 'Choose a password with an invitation or a reset link',
    description: 'The body is the form of the page.',
    answers: {
      200: 'The page for the password, or one that leads to an identity provider.',
      303: 'To the console: the user is signed in.',
      400: 'The page again: the password is not valid.',
      403: 'The page again: the link or the form is not valid.',
      429: 'The page again: too many attempts have failed.',
      503: 'The page again: the service is busy.',
    },
    bind: (deps) => pageHandler((request) => answerForm(deps, request)),
  },
});

function pageHandler(answer: (request: Request) => Reply | Promise<Reply>): Handler {
  return async (request) => {
    try {
      return await answer(request);
    } catch (error) {
      return refusalPage(error);
    }
  };
}

/** The user signs in to the console. */
function purposeOf({ directory, audience }: PageServices): FormPurpose {
  return { client: findClient(directory, consoleClientId)!, redirectUri: `${audience}/console/sign-in` };
}

function pageOf(deps: PageServices, request: Request) {
  return formPage(deps, request, purposeOf(deps));
}

async function answerForm(deps: PageServices, request: Request): Promise<Reply> {
  const page = pageOf(deps, request);
  const posted = await readPostedForm(deps, request, purposeOf(deps), () => linkPage(page, staleError));
  if ('reply' in posted) return posted.reply;
  const { form, browser } = posted;
  const token = secretIn(form.get('token') ?? '');
  const presented = { token, address: request.remoteAddress, browser };
  if (form.get('action') === 'accept') return acceptByForm(deps, posted, presented);
  try {
    const found = await findLink(deps, presented);
    if (found.outcome !== 'valid') return linkPage(page, rejection(found));
    const provider = providersFor(deps, found.user).find(({ id }) => id === form.get('provider'));
    if (provider === undefined) return choosePasswordPage(page, token, invited(deps, found.user));
    return await leadToLink(deps, browser, provider, found.user, { page: 'invitation', link: token });
  } catch (error) {
    return linkPage(page, busy(error));
  }
}

async function acceptByForm(
  deps: PageServices,
  { request, form }: PostedForm,
  presented: PresentedLink,
): Promise<Reply> {
  const page = pageOf(deps, request);
  const typed = { password: form.get('password') ?? '', again: form.get('again') ?? '' };
  try {
    const result = await acceptInvitation(deps, { ...presented, ...typed, userAgent: userAgentOf(request) });
    switch (result.outcome) {
      case 'signed-in':
        return enterConsole(deps, new BrowserCookie(deps.issuer).write(result.browser));
      case 'refused': {
        const fault = { status: 400, text: result.fault, typed: true };
        return choosePasswordPage(page, presented.token, invited(deps, result.user), fault);
      }
      case 'not-a-member':
        return linkPage(page, overError);
      default:
        return linkPage(page, rejection(result));
    }
  } catch (error) {
    const found = await findLink(deps, presented);
    if (found.outcome !== 'valid') return linkPage(page, rejection(found));
    return choosePasswordPage(page, presented.token, invited(deps, found.user), busy(error));
  }
}

/** People may paste the whole link, or its secret. */
function secretIn(typed: string): string {
  return typed.slice(typed.indexOf('#') + 1).trim();
}

function rejection(found: Exclude<FoundLink, { outcome: 'valid' }>): FormError {
  return found.outcome === 'over' ? overError : throttled(found.wait);
}

/** Only one for users of a domain that must sign in with it. */
function providersFor({ accountStore, providers }: PageServices, user: User) {
  const required = requiredProvider(accountStore, user);
  return providers.enabled().filter(({ id }) => required === undefined || id === required);
}

function invited(deps: PageServices, user: User): Invited {
  const { name, email, teams, invitation } = user;
  const names = teams.map((id) => deps.directory.teams.get(id)?.name ?? id);
  return {
    purpose: invitation!.purpose,
    name,
    email,
    teams: names,
    mayUsePassword: mayUsePassword(deps.accountStore, user),
    providers: providersFor(deps, user),
  };
}

function enterConsole({ audience }: PageServices, cookie: string): Reply {
  const headers = {
    location: `${audience}/console/sign-in`,
    'cache-control': 'no-store',
    'set-cookie': cookie,
  };
  return { status: 303, headers: { ...headers, 'referrer-policy': 'no-referrer' } };
}
