import type { Reply } from '../../http/types.ts';
import { type FormPage, formField, formParts, receiverNote } from './form-page.ts';
import { html } from './html.ts';
import type { LoginError } from './login-page.ts';
import { pageReply } from './page.ts';

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
