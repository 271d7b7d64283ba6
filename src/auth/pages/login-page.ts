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
