import type { Reply } from '../../http/types.ts';
import type { User } from '../../storage/lmdb/records.ts';
import { type FormError, type FormPage, formReply } from './form-page.ts';
import { html } from './html.ts';
import { passkeyButton } from './passkey-script.ts';

/** Maximum length of a typed name, characters. */
const longestName = 64;

/**
 * The page on which a user adds a passkey.
 * @param isFull whether the user has as many as possible
 */
export function addPasskeyPage(page: FormPage, user: User, isFull: boolean, error?: FormError): Reply {
  const { passkeys, browser } = page;
  const passkey =
    passkeys && !isFull
      ? passkeyButton('add-passkey', 'Add a passkey', passkeys.add(browser, user), { primary: true })
      : undefined;
  return formReply(page, {
    title: 'Add a passkey',
    intro: html`<p>for <strong>${user.email}</strong></p>
<p class="note">${isFull ? full : purpose}</p>`,
    error,
    passkey,
    form: html`${isFull ? undefined : nameField}
${passkey}
<button class="other" name="action" value="switch" formnovalidate>Use another account</button>
<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>`,
  });
}

const purpose = `A passkey signs you in with your fingerprint, your face or the PIN of your device, instead of your password. Your browser
needs JavaScript.`;

const full = 'You have as many passkeys as possible. Remove one first.';

const nameField = html`<label for="name">Name (optional)</label>
<input id="name" name="name" type="text" autocomplete="off" maxlength="${longestName}" aria-describedby="name-hint">
<p class="note" id="name-hint">Such as “Laptop”. You can change it later.</p>`;
