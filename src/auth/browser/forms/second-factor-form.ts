import { loadTotps } from '../../../accounts/second-factors.ts';
import type { HttpResponse } from '../../../http/types.ts';
import { type Browser, BrowserCookie } from '../../cookies/browser.ts';
import { enrol, proveCode } from '../../factors/second-factor.ts';
import { appendMac, readMac } from '../../oauth/mac.ts';
import { type CurrentSignIn, currentSignIn } from '../../oauth/sign-ins.ts';
import type { FormError, FormPage } from '../pages/form-page.ts';
import {
  chooseFactorPage,
  codePage,
  enrolmentPage,
  passkeyStepPage,
  recoveryCodesPage,
  recoveryPage,
} from '../pages/second-factor-pages.ts';
import { newPasswordPage } from '../pages/sign-in-pages.ts';
import {
  busy,
  type FormResult,
  formPage,
  notAMember,
  type PageServices,
  type PostedForm,
  signInAgain,
  staleForm,
  throttled,
} from './posted-form.ts';

export const wrongCode: FormError = {
  status: 403,
  text: 'The code is wrong, has expired, or was used before. Enter the code that the app shows now.',
  typed: true,
};

const wrongRecoveryCode: FormError = {
  status: 403,
  text: 'The recovery code is wrong, or was used before.',
  typed: true,
};

/** Continues a started sign-in, or returns the page of the missing step. */
export async function entered(
  services: PageServices,
  { request, purpose }: PostedForm,
  { signIn, browser }: { readonly signIn: CurrentSignIn; readonly browser: Browser },
): Promise<FormResult> {
  const cookie = new BrowserCookie(services.issuer).write(browser);
  if (signIn.missing === undefined) return { signIn, browser, cookie };
  return { response: await stepPage(services, { ...formPage(services, request, purpose), browser, cookie }, signIn) };
}

export async function stepPage(
  services: PageServices,
  page: FormPage,
  { user, missing }: CurrentSignIn,
  error?: FormError,
): Promise<HttpResponse> {
  const { email } = user;
  switch (missing) {
    case 'second-factor': {
      const hasApp = services.accountStore.get('totp', user.id) !== undefined;
      return passkeyStepPage(page, user, { hasApp, error }) ?? codePage(page, email, error);
    }
    case 'enrolment':
      return chooseFactorPage(page, user, error) ?? showEnrolmentPage(services, page, email);
    default:
      return newPasswordPage(page, email);
  }
}

/** The page that sets up an authenticator app. If `given` has no secret, a new secret is created. */
export async function showEnrolmentPage(
  { issuer, keys, randomBytes }: PageServices,
  page: FormPage,
  email: string,
  given: { readonly secret?: string; readonly error?: FormError } = {},
): Promise<HttpResponse> {
  const { newSecret, createUri } = await loadTotps(randomBytes);
  const { secret = newSecret(), error } = given;
  const uri = createUri(secret, `flagmeter (${new URL(issuer).hostname})`, email);
  const signed = appendMac(keys, 'keys of authenticator apps', page.browser.id, secret);
  return enrolmentPage(page, email, { secret, uri, signed }, error);
}

/** The secret in the form that sets up an authenticator app; `undefined` if the form was made for another browser. */
export function enrolmentSecretIn({ keys }: PageServices, { form, browser }: PostedForm): string | undefined {
  return readMac(keys, 'keys of authenticator apps', browser.id, form.get('secret') ?? '');
}

/** Handles the form for a code of the app or a recovery code, or switches between these two forms. */
export async function proveByForm(services: PageServices, posted: PostedForm): Promise<FormResult> {
  const { request, purpose, form, browser } = posted;
  const page = formPage(services, request, purpose);
  const action = form.get('action');
  const isRecovery = action === 'recovery' || form.get('kind') === 'recovery';
  const showPage = isRecovery && action !== 'authenticator' ? recoveryPage : codePage;
  const step = { browser, address: request.remoteAddress, client: purpose.client };
  const signIn = await currentSignIn(services, browser);
  if (signIn?.missing !== 'second-factor') return signInAgain(services, posted, staleForm);
  const { email } = signIn.user;
  if (action !== 'second-factor') return { response: showPage(page, email) };
  try {
    const result = await proveCode(services, step, form.get('code') ?? '');
    switch (result.outcome) {
      case 'signed-in':
        return await entered(services, posted, result);
      case 'not-a-member':
        return signInAgain(services, posted, notAMember(email, purpose));
      case 'over':
        return signInAgain(services, posted, staleForm);
      case 'wrong':
        return { response: showPage(page, email, isRecovery ? wrongRecoveryCode : wrongCode) };
      case 'throttled':
        return { response: showPage(page, email, throttled(result.wait)) };
    }
  } catch (error) {
    return { response: showPage(page, email, busy(error)) };
  }
}

/** Handles the form that sets up an authenticator app. The recovery codes are shown before the user continues. */
export async function enrolByForm(services: PageServices, posted: PostedForm): Promise<FormResult> {
  const { request, purpose, form, browser } = posted;
  const page = formPage(services, request, purpose);
  const signIn = await currentSignIn(services, browser);
  if (signIn?.missing !== 'enrolment') return signInAgain(services, posted, staleForm);
  const { email } = signIn.user;
  if (form.get('action') === 'set-up-app') return { response: await showEnrolmentPage(services, page, email) };
  const secret = enrolmentSecretIn(services, posted);
  if (secret === undefined) return signInAgain(services, posted, staleForm);
  const again = async (error: FormError) => ({
    response: await showEnrolmentPage(services, page, email, { secret, error }),
  });
  try {
    const step = { browser, address: request.remoteAddress, client: purpose.client };
    const result = await enrol(services, step, { secret, code: form.get('code') ?? '' });
    if (result.outcome === 'over') return signInAgain(services, posted, staleForm);
    if (result.outcome === 'wrong') return await again(wrongCode);
    const { signedIn, recoveryCodes } = result;
    if (signedIn.outcome === 'not-a-member') return signInAgain(services, posted, notAMember(email, purpose));
    const cookie = new BrowserCookie(services.issuer).write(signedIn.browser);
    return { response: recoveryCodesPage({ ...page, browser: signedIn.browser, cookie }, recoveryCodes) };
  } catch (error) {
    return again(busy(error));
  }
}
