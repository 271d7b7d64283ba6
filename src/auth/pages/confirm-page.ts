import type { Reply } from '../../http/types.ts';
import { type FormPage, formField, formParts, receiverNote } from './form-page.ts';
import { html } from './html.ts';
import { pageReply } from './page.ts';

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
