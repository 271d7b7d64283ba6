import type { Reply } from '../../http/types.ts';
import { type FormPage, formField, formParts, receiverNote } from './form-page.ts';
import { html } from './html.ts';
import { pageReply } from './page.ts';

/** The error of the previous attempt. */
export interface LoginError {
  readonly status: number;
  readonly text: string;
  /** Whether the error is about the typed credentials. */
  readonly typed?: boolean;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** The longest e-mail address accepted. */
export const longestEmail = 320;

/**
 * The page on which a user signs in.
 * @param email the initial content of the field
 */
export function loginPage(page: FormPage, email: string, error?: LoginError): Reply {
  const described = error && html` aria-describedby="error"`;
  const invalid = error?.typed ? html` aria-invalid="true"` : undefined;
  const focus = html` autofocus`;
  return pageReply({
    status: error?.status ?? 200,
    title: error === undefined ? 'Sign in' : 'Error: Sign in',
    ...formParts(page),
    ...(error?.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
    content: html`<h1>Sign in</h1>
<p>to continue to <strong>${page.clientName}</strong></p>
${error && html`<p class="error" id="error" role="alert">${error.text}</p>`}
<form method="post">
${formField(page)}
<label for="email">E-mail address</label>
<input id="email" name="email" type="text" inputmode="email" autocomplete="username" autocapitalize="none"
 autocorrect="off" spellcheck="false" maxlength="${longestEmail}" required
 value="${email}"${invalid}${described}${email === '' ? focus : undefined}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required
${invalid}${described}${email === '' ? undefined : focus}>
<button name="action" value="sign-in">Sign in</button>
<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>
</form>
${receiverNote(page)}`,
  });
}

/** The page on which a user with a temporary password chooses a new one. */
export function newPasswordPage(page: FormPage, email: string, error?: LoginError): Reply {
  const described = error && html` aria-describedby="error"`;
  const invalid = error?.typed ? html` aria-invalid="true"` : undefined;
  return pageReply({
    status: error?.status ?? 200,
    title: error === undefined ? 'Choose a password' : 'Error: Choose a password',
    ...formParts(page),
    ...(error?.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
    content: html`<h1>Choose a password</h1>
<p>The password of <strong>${email}</strong> was generated, or set by someone else. Choose your own to continue to
<strong>${page.clientName}</strong>.</p>
${error && html`<p class="error" id="error" role="alert">${error.text}</p>`}
<form method="post">
${formField(page)}
<input type="text" name="email" value="${email}" autocomplete="username" readonly hidden>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" required autofocus
${invalid}${described}>
<label for="again">New password again</label>
<input id="again" name="again" type="password" autocomplete="new-password" minlength="8" required
${invalid}${described}>
<button name="action" value="new-password">Save and continue</button>
<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>
</form>
${receiverNote(page)}`,
  });
}

/** The page on which signed-in users confirm that they want to continue with their account. */
export function confirmPage(page: FormPage, email: string): Reply {
  return pageReply({
    status: 200,
    title: 'Continue?',
    ...formParts(page),
    content: html`<h1>Continue to ${page.clientName}?</h1>
<p>You are signed in as <strong>${email}</strong>.</p>
<form method="post">
${formField(page)}
<button name="action" value="continue" autofocus>Continue</button>
<button class="other" name="action" value="switch">Use another account</button>
<button class="other" name="action" value="cancel">Cancel</button>
</form>
${receiverNote(page)}`,
  });
}
