import { passwordLength } from '../../../contract/sign-in.ts';
import type { HttpResponse } from '../../../http/types.ts';
import { errorAttributes, type FormError, type FormPage, formResponse, passkeyButton } from './form-page.ts';
import { type Html, html } from './html.ts';

export const longestEmail = 320;

/**
 * The page on which a user signs in.
 * @param email the initial content of the e-mail field
 */
export function loginPage(page: FormPage, email: string, error?: FormError): HttpResponse {
  const wrong = errorAttributes(error);
  const focus = html` autofocus`;
  const { browser, passkeys, leadsByEmail } = page;
  const label = 'Sign in with a passkey';
  // After a refusal, passkeys are not offered in the field: a password manager could resend the refused one endlessly.
  const offered = error === undefined || error.typed === true;
  const passkey = passkeys && passkeyButton('passkey', label, passkeys.signIn(browser), { offered });
  return formResponse(page, {
    title: 'Sign in',
    intro: html`<p>to continue to <strong>${page.clientName}</strong></p>`,
    error,
    passkey,
    form: html`<label for="email">E-mail address</label>
<input id="email" name="email" type="text" inputmode="email" autocomplete="username webauthn" autocapitalize="none"
 autocorrect="off" spellcheck="false" maxlength="${longestEmail}" required
 value="${email}"${wrong}${email === '' ? focus : undefined}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password"${leadsByEmail ? undefined : html` required`}
${wrong}${email === '' ? undefined : focus}>
<button name="action" value="sign-in">${leadsByEmail ? 'Continue' : 'Sign in'}</button>
${passkey}
<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>`,
    more: providerLinks(page),
  });
}

function providerLinks({ providers }: FormPage): Html | undefined {
  if (providers.length === 0) return undefined;
  const links = providers.map(
    ({ name, address }) => html`<a class="button" href="${address}">Sign in with ${name}</a>\n`,
  );
  return html`<p class="or">or</p>\n${links}`;
}

export function newPasswordPage(page: FormPage, email: string, error?: FormError): HttpResponse {
  const wrong = errorAttributes(error);
  return formResponse(page, {
    title: 'Choose a password',
    intro: html`<p>The password of <strong>${email}</strong> was generated, or set by someone else. Choose your own password to
continue to <strong>${page.clientName}</strong>.</p>`,
    error,
    form: html`<input type="text" name="email" value="${email}" autocomplete="username" readonly hidden>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${passwordLength.minCharacters}" required autofocus
${wrong}>
<label for="again">New password again</label>
<input id="again" name="again" type="password" autocomplete="new-password" minlength="${passwordLength.minCharacters}" required
${wrong}>
<button name="action" value="new-password">Save and continue</button>
<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>`,
  });
}

/** The page on which signed-in users confirm that they want to continue with their account. */
export function confirmPage(page: FormPage, email: string): HttpResponse {
  return formResponse(page, {
    title: 'Continue?',
    heading: `Continue to ${page.clientName}?`,
    intro: html`<p>You are signed in as <strong>${email}</strong>.</p>`,
    form: html`<button name="action" value="continue" autofocus>Continue</button>
<button class="other" name="action" value="switch">Use another account</button>
<button class="other" name="action" value="cancel">Cancel</button>`,
  });
}
