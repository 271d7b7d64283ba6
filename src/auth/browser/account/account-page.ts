import { isRecentSignIn } from '../../../contract/step-up.ts';
import type { Handler, Reply, Request } from '../../../http/types.ts';
import { BrowserCookie } from '../../cookies/browser.ts';
import { consoleClientId, findClient } from '../../oauth/clients.ts';
import { type CurrentSignIn, currentSignIn } from '../../oauth/sign-ins.ts';
import type { PageServices } from '../forms/posted-form.ts';
import { type FormPurpose, formPage, type PostedForm, readPostedForm } from '../forms/posted-form.ts';
import { stepPage } from '../forms/second-factor-form.ts';
import { signInByForm } from '../forms/sign-in-form.ts';
import { refusalPage } from '../pages/failure-page.ts';
import type { FormPage } from '../pages/form-page.ts';
import { loginPage } from '../pages/sign-in-pages.ts';

/*
 * Pages on which users change how they sign in. They are on the auth host, because it signs the user in again first: a session
 * of the console, or a stolen token, is not enough. The user comes from the console, and returns there.
 */

/** A page, shown to a user who has signed in recently. */
export interface AccountPage {
  /** Why the page is impossible here. */
  readonly refuse?: (deps: PageServices) => Reply | undefined;
  /** Whether the page may also add the second factor that a sign-in lacks. */
  readonly completes?: true;
  readonly show: (deps: PageServices, page: FormPage, signIn: CurrentSignIn) => Reply | Promise<Reply>;
  /** The answers to the form of the page, by the value of its button. */
  readonly actions: Readonly<Record<string, Act>>;
}

/** @param page the content of the next page */
type Act = (deps: PageServices, posted: PostedForm, signIn: CurrentSignIn, page: FormPage) => Promise<Reply>;

/** Answers the requests of a page. */
export function accountPageHandler(deps: PageServices, page: AccountPage): Handler {
  return async (request) => {
    const refused = page.refuse?.(deps);
    if (refused !== undefined) return refused;
    try {
      return await (request.method === 'POST' ? decide : show)(deps, request, page);
    } catch (error) {
      return refusalPage(error);
    }
  };
}

async function show(deps: PageServices, request: Request, page: AccountPage): Promise<Reply> {
  const signIn = await currentSignIn(deps, new BrowserCookie(deps.issuer).read(request));
  return next(deps, page, formPage(deps, request, purposeOf(deps)), signIn);
}

async function decide(deps: PageServices, request: Request, page: AccountPage): Promise<Reply> {
  const purpose = purposeOf(deps);
  const posted = await readPostedForm(deps, request, purpose);
  if ('reply' in posted) return posted.reply;
  const action = posted.form.get('action') ?? '';
  const shown = formPage(deps, request, purpose);
  if (action === 'cancel') return backToConsole(purpose);
  if (action === 'switch') return loginPage(shown, '');
  const signIn = await currentSignIn(deps, posted.browser);
  const act = Object.hasOwn(page.actions, action) ? page.actions[action] : undefined;
  if (act !== undefined && signIn !== undefined && isComplete(page, signIn))
    return isRecent(deps, signIn) ? act(deps, posted, signIn, shown) : next(deps, page, shown, signIn);
  const result = await signInByForm(deps, posted);
  if ('reply' in result) return result.reply;
  return next(deps, page, { ...shown, browser: result.browser, cookie: result.cookie }, result.signIn);
}

/** The next page of a browser: the sign-in page, that of a missing step, or the page itself. */
function next(
  deps: PageServices,
  page: AccountPage,
  shown: FormPage,
  signIn: CurrentSignIn | undefined,
): Reply | Promise<Reply> {
  if (signIn === undefined || !isRecent(deps, signIn)) return loginPage(shown, signIn?.user.email ?? '');
  return isComplete(page, signIn) ? page.show(deps, shown, signIn) : stepPage(deps, shown, signIn);
}

function isRecent({ clock }: PageServices, { authTime }: CurrentSignIn): boolean {
  return isRecentSignIn(authTime, clock.now());
}

function isComplete({ completes }: AccountPage, { missing }: CurrentSignIn): boolean {
  return missing === undefined || (completes === true && missing === 'enrolment');
}

function purposeOf({ directory, audience }: PageServices): FormPurpose {
  return { client: findClient(directory, consoleClientId)!, redirectUri: `${audience}/settings/you` };
}

/** Redirects to the user's page of the console. */
export function backToConsole({ redirectUri }: FormPurpose): Reply {
  return { status: 303, headers: { location: redirectUri ?? '/', 'cache-control': 'no-store' } };
}
