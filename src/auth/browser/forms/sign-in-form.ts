import type { AccountTransaction } from '../../../accounts/account-transaction.ts';
import { commonPassword, typedFault } from '../../../accounts/password-rules.ts';
import { domainRule, readSignInPolicy } from '../../../accounts/sign-in-policy.ts';
import { applyUserPatch } from '../../../accounts/users.ts';
import { Refusal } from '../../../contract/errors.ts';
import type { Request } from '../../../http/types.ts';
import type { OAuthClient, User } from '../../../storage/lmdb/records.ts';
import { type Browser, renewBrowser } from '../../cookies/browser.ts';
import { type SignInResult, signIn } from '../../factors/sign-in.ts';
import { maySignIn } from '../../oauth/clients.ts';
import { readUserAgent } from '../../oauth/record-sign-in.ts';
import type { Services } from '../../oauth/services.ts';
import { endUserSessions } from '../../oauth/sessions.ts';
import { type CurrentSignIn, currentSignIn, startSignIn } from '../../oauth/sign-ins.ts';
import { startLink } from '../../sso/attempt.ts';
import type { FormError } from '../pages/form-page.ts';
import { type Lead, leadPage } from '../pages/provider-pages.ts';
import { longestEmail, newPasswordPage } from '../pages/sign-in-pages.ts';
import { enrolByPasskey, enterByPasskey, proveByPasskey } from './passkey-form.ts';
import {
  busy,
  type FormPurpose,
  type FormResult,
  findPage,
  formPage,
  notAMember,
  type PageServices,
  type PostedForm,
  signInAgain,
  staleForm,
  throttled,
} from './posted-form.ts';
import { enrolByForm, entered, proveByForm } from './second-factor-form.ts';

const unfinished: FormError = { status: 400, text: 'Enter your e-mail address and your password.', typed: true };

/**
 * Signs a user in with the typed credentials, or shows the page again with an error. If a step such as a second factor
 * is missing, shows the page of this step, and handles its form, too.
 */
export function signInByForm(services: PageServices, posted: PostedForm): Promise<FormResult> {
  switch (posted.form.get('action')) {
    case 'new-password':
      return changeByForm(services, posted);
    case 'passkey':
      return enterByPasskey(services, posted);
    case 'prove-passkey':
      return proveByPasskey(services, posted);
    case 'add-passkey':
      return enrolByPasskey(services, posted);
    case 'recovery':
    case 'authenticator':
    case 'second-factor':
      return proveByForm(services, posted);
    case 'set-up-app':
    case 'enrol':
      return enrolByForm(services, posted);
    default:
      return enterByForm(services, posted);
  }
}

async function enterByForm(services: PageServices, posted: PostedForm): Promise<FormResult> {
  const { request, purpose, form, browser } = posted;
  const email = (form.get('email') ?? '').trim();
  const password = form.get('password') ?? '';
  const again = (error: FormError) => signInAgain(services, posted, error, email);
  const lead = findLead(services, request, email);
  if (lead !== undefined && password === '') return { response: leadPage(lead) };
  // Rejects spaces, so that no e-mail address equals a throttle key of another factor, which contains a space.
  if (email === '' || /\s/.test(email) || email.length > longestEmail || password === '') return again(unfinished);
  const credentials = { email, password, address: request.remoteAddress, browser, userAgent: readUserAgent(request) };
  try {
    const result = await signIn(services, credentials, purpose.client);
    if (result.outcome !== 'signed-in') return again(withLead(explain(result, email, purpose), lead));
    return await entered(services, posted, result);
  } catch (error) {
    return again(busy(error)); // The page keeps the typed e-mail address.
  }
}

/** Finds the provider with which users of the address's domain must sign in. */
function findLead({ accountStore, providers }: PageServices, request: Request, email: string): Lead | undefined {
  const rule = domainRule(readSignInPolicy(accountStore), email);
  const provider = rule && providers.find(rule.providerId);
  if (rule === undefined || !provider?.enabled) return undefined;
  const address = startLink(provider, findPage(request), request.query);
  return { domain: rule.domain, name: provider.name, address };
}

function withLead(error: FormError, lead: Lead | undefined): FormError {
  if (lead === undefined) return error;
  return { ...error, text: `${error.text} Users of ${lead.domain} sign in with ${lead.name}.` };
}

async function changeByForm(services: PageServices, posted: PostedForm): Promise<FormResult> {
  const { request, purpose, form, browser } = posted;
  const page = formPage(services, request, purpose);
  const password = form.get('password') ?? '';
  const again = form.get('again') ?? '';
  const email = form.get('email') ?? '';
  try {
    const typed = { password, again, address: request.remoteAddress, browser };
    const result = await replacePassword(services, typed, purpose.client);
    switch (result.outcome) {
      case 'signed-in':
        return await entered(services, posted, result);
      case 'refused': {
        const fault = { status: 400, text: result.fault, typed: true };
        return { response: newPasswordPage(page, result.user.email, fault) };
      }
      case 'not-a-member':
        return signInAgain(services, posted, notAMember(result.user.email, purpose));
      case 'over':
        return signInAgain(services, posted, staleForm, email);
    }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'invalid_body') {
      const fault = { status: 400, text: `The password ${commonPassword}.`, typed: true };
      return { response: newPasswordPage(page, email, fault) };
    }
    return { response: newPasswordPage(page, email, busy(error)) };
  }
}

function explain(
  result: Exclude<SignInResult, { outcome: 'signed-in' }>,
  email: string,
  purpose: FormPurpose,
): FormError {
  switch (result.outcome) {
    case 'wrong':
      return { status: 403, text: 'The e-mail address or the password is wrong.', typed: true };
    case 'not-a-member':
      return notAMember(email, purpose);
    case 'throttled':
      return throttled(result.wait);
  }
}

interface TypedPassword {
  readonly password: string;
  readonly again: string;
  readonly address: string;
  readonly browser: Browser;
}

type NewPasswordResult =
  | { readonly outcome: 'signed-in'; readonly browser: Browser; readonly signIn: CurrentSignIn }
  | { readonly outcome: 'refused'; readonly user: User; readonly fault: string }
  | { readonly outcome: 'not-a-member'; readonly user: User }
  /** The sign-in of the browser has ended, or the user has already set a new password. */
  | { readonly outcome: 'over' };

/**
 * Replaces the temporary password of the signed-in user, and signs the browser in with the new password.
 * @throws {Refusal} `invalid_body` for a common password, `rate_limited`, `backpressure`, `store_unavailable`
 */
async function replacePassword(
  services: PageServices,
  typed: TypedPassword,
  client: OAuthClient,
): Promise<NewPasswordResult> {
  const { directory, passwords, randomBytes } = services;
  const { password, address, browser } = typed;
  const signIn = await currentSignIn(services, browser);
  if (signIn?.missing !== 'new-password') return { outcome: 'over' };
  const { user } = signIn;
  if (!maySignIn(user, client)) return { outcome: 'not-a-member', user };
  const refused = (fault: string) => ({ outcome: 'refused', user, fault }) as const;
  const fault = typedFault(typed, user.email);
  if (fault !== undefined) return refused(fault);
  if (await passwords.verify(password, user.passwordHash, user.id))
    return refused('Choose a password other than the one you signed in with.');
  const passwordHash = await passwords.hash(password, randomBytes, user.id);
  return directory
    .under({ id: user.id, address })
    .change((tx) => exchange(services, tx, { signIn, passwordHash, browser }));
}

/** Changes the password in a transaction, unless the password has changed since the sign-in. */
function exchange(
  { clock, randomBytes }: Services,
  tx: AccountTransaction,
  given: { readonly signIn: CurrentSignIn; readonly passwordHash: string; readonly browser: Browser },
): NewPasswordResult {
  const { passwordHash, browser: before } = given;
  const { user: seen, authentication } = given.signIn;
  const user = tx.users.get(seen.id);
  if (user?.passwordHash !== seen.passwordHash) return { outcome: 'over' };
  const now = clock.now();
  const patched = applyUserPatch(tx, user, { passwordHash }, now, authentication);
  endUserSessions({ clock }, tx, user.id);
  const browser = renewBrowser(before, randomBytes);
  const signIn = startSignIn(tx, patched, { before, browser, authentication, now });
  return { outcome: 'signed-in', browser, signIn };
}
