import type { Reply } from '../../../http/types.ts';
import type { User } from '../../../storage/lmdb/records.ts';
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

/** The page on which a user proves the second factor with a passkey; `undefined` for a user without one. */
export function passkeyStepPage(
  page: FormPage,
  user: User,
  { hasApp, error }: { readonly hasApp: boolean; readonly error?: FormError | undefined },
): Reply | undefined {
  const options = page.passkeys?.prove(page.browser, user);
  if (options === undefined) return undefined;
  const passkey = passkeyButton('prove-passkey', 'Use a passkey', options, { primary: true });
  return formReply(page, {
    title: 'Two-step verification',
    intro: html`<p>Use a passkey of <strong>${user.email}</strong> to continue to <strong>${page.clientName}</strong>. Your browser
needs JavaScript.</p>`,
    error,
    passkey,
    form: html`${passkey}
${hasApp ? html`<button class="other" name="action" value="authenticator" formnovalidate>Use the authenticator app</button>` : undefined}
<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>`,
  });
}

/** The page on which a user chooses the second factor that the policy demands; `undefined` if passkeys are impossible. */
export function chooseFactorPage(page: FormPage, user: User, error?: FormError): Reply | undefined {
  const options = page.passkeys?.add(page.browser, user);
  if (options === undefined) return undefined;
  const passkey = passkeyButton('add-passkey', 'Add a passkey', options, { primary: true });
  return formReply(page, {
    title: 'Set up two-step verification',
    intro: html`<p>The account <strong>${user.email}</strong> needs a second factor. With a passkey, you sign in with your fingerprint, your
face or the PIN of your device. An authenticator app shows a code to type after the password.</p>`,
    error,
    passkey,
    form: html`${passkey}
<button class="other" name="action" value="set-up-app" formnovalidate>Use an authenticator app</button>
<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>`,
  });
}

const purpose = html`A passkey signs you in with your fingerprint, your face or the PIN of your device, instead of your password. Your browser
needs JavaScript.`;

const full = 'You have as many passkeys as possible. Remove one first.';

const nameField = html`<label for="name">Name (optional)</label>
<input id="name" name="name" type="text" autocomplete="off" maxlength="${longestName}">`;
