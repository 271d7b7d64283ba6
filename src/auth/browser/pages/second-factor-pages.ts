import { encode } from 'uqr';
import type { HttpResponse } from '../../../http/types.ts';
import type { User } from '../../../storage/lmdb/records.ts';
import { errorAttributes, type FormError, type FormPage, formResponse, passkeyButton } from './form-page.ts';
import { type Html, html } from './html.ts';

const cancel = html`<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>`;

/** The page on which a user enters a code of the authenticator app, after the password. */
export function codePage(page: FormPage, email: string, error?: FormError): HttpResponse {
  return formResponse(page, {
    title: 'Two-step verification',
    intro: html`<p>Enter the code that your authenticator app shows for <strong>${email}</strong>, to continue to
<strong>${page.clientName}</strong>.</p>`,
    error,
    form: html`<label for="code">Code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" autocapitalize="none"
 autocorrect="off" spellcheck="false" maxlength="7" required autofocus${errorAttributes(error)}>
<button name="action" value="second-factor">Continue</button>
<button class="other" name="action" value="recovery" formnovalidate>Use a recovery code</button>
${cancel}`,
  });
}

/** The page on which a user enters a recovery code in place of a code of the authenticator app. */
export function recoveryPage(page: FormPage, email: string, error?: FormError): HttpResponse {
  return formResponse(page, {
    title: 'Use a recovery code',
    intro: html`<p>Enter one of the recovery codes of <strong>${email}</strong>. Each code can be used once.</p>`,
    error,
    form: html`<label for="code">Recovery code</label>
<input id="code" name="code" type="text" autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false"
 maxlength="64" required autofocus${errorAttributes(error)}>
<input type="hidden" name="kind" value="recovery">
<button name="action" value="second-factor">Continue</button>
<button class="other" name="action" value="authenticator" formnovalidate>Use the authenticator app</button>
${cancel}`,
  });
}

/** The secret of a new authenticator app, and the URI from which the app reads it. */
interface ShownSecret {
  readonly secret: string;
  readonly uri: string;
  readonly signed: string;
}

export function enrolmentPage(
  page: FormPage,
  email: string,
  { secret, uri, signed }: ShownSecret,
  error?: FormError,
): HttpResponse {
  return formResponse(page, {
    title: 'Set up two-step verification',
    intro: html`<p>Scan this code with an authenticator app, then enter the code that the app shows for
<strong>${email}</strong>. From then on, signing in with the password also requires a code from the app.</p>
${qrImage(uri)}
<p>Or enter this key in the app, or <a href="${uri}">open the app on this device</a>:</p>
<p><code>${secret.match(/.{1,4}/g)?.join(' ') ?? ''}</code></p>`,
    error,
    form: html`<input type="hidden" name="secret" value="${signed}">
<label for="code">Code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" autocapitalize="none"
 autocorrect="off" spellcheck="false" maxlength="7" required${errorAttributes(error)}>
<button name="action" value="enrol">Continue</button>
${cancel}`,
  });
}

function qrImage(uri: string): Html | undefined {
  const code = qrCode(uri);
  if (code === undefined) return undefined;
  const whole = code.size + 8;
  return html`<svg class="qr" role="img" aria-label="QR code of the key" viewBox="-4 -4 ${whole} ${whole}" shape-rendering="crispEdges">
<path fill="#fff" d="M-4-4h${whole}v${whole}h-${whole}z"/><path fill="#000" d="${code.path}"/></svg>`;
}

/** The page of a user who has an authenticator app. @param left the number of unused recovery codes */
export function authenticatorPage(page: FormPage, email: string, left: number): HttpResponse {
  return formResponse(page, {
    title: 'Two-step verification',
    intro: html`<p><strong>${email}</strong> has an authenticator app, and ${left} of 10 recovery codes left.</p>
<p class="note">New recovery codes replace all earlier codes.</p>`,
    form: html`<button name="action" value="recovery-codes">Create recovery codes</button>
<button class="other" name="action" value="cancel">Back</button>`,
  });
}

export function recoveryCodesPage(page: FormPage, codes: readonly string[]): HttpResponse {
  return formResponse(page, {
    title: 'Save your recovery codes',
    intro: html`<p>Each of these codes replaces the authenticator app once, for example if the device is lost. The codes
are not shown again.</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a download="flagmeter-recovery-codes.txt" href="data:text/plain,${codes.join('%0A')}">Download the codes</a></p>`,
    form: html`<button name="action" value="enrolled">I have saved the codes</button>`,
  });
}

const longestName = 64;

/**
 * The page on which a user adds a passkey.
 * @param isFull true if the user has the maximum number of passkeys
 */
export function addPasskeyPage(page: FormPage, user: User, isFull: boolean, error?: FormError): HttpResponse {
  const { passkeys, browser } = page;
  const passkey =
    passkeys && !isFull
      ? passkeyButton('add-passkey', 'Add a passkey', passkeys.add(browser, user), { primary: true })
      : undefined;
  return formResponse(page, {
    title: 'Add a passkey',
    intro: html`<p>for <strong>${user.email}</strong></p>
<p class="note">${isFull ? full : benefit}</p>`,
    error,
    passkey,
    form: html`${isFull ? undefined : nameField}
${passkey}
<button class="other" name="action" value="switch" formnovalidate>Use another account</button>
<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>`,
  });
}

/** The page on which a user proves the second factor with a passkey; `undefined` for a user without a passkey. */
export function passkeyStepPage(
  page: FormPage,
  user: User,
  { hasApp, error }: { readonly hasApp: boolean; readonly error?: FormError | undefined },
): HttpResponse | undefined {
  const options = page.passkeys?.prove(page.browser, user);
  if (options === undefined) return undefined;
  const passkey = passkeyButton('prove-passkey', 'Use a passkey', options, { primary: true });
  return formResponse(page, {
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

/** The page on which a user chooses a required second factor; `undefined` if passkeys are not possible. */
export function chooseFactorPage(page: FormPage, user: User, error?: FormError): HttpResponse | undefined {
  const options = page.passkeys?.add(page.browser, user);
  if (options === undefined) return undefined;
  const passkey = passkeyButton('add-passkey', 'Add a passkey', options, { primary: true });
  return formResponse(page, {
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

const benefit = html`A passkey signs you in with your fingerprint, your face or the PIN of your device, instead of your password. Your browser
needs JavaScript.`;

const full = 'You have the maximum number of passkeys. Remove a passkey first.';

const nameField = html`<label for="name">Name (optional)</label>
<input id="name" name="name" type="text" autocomplete="off" maxlength="${longestName}">`;

/** The dark modules of a QR code as an SVG path. `size` is the side length in modules, without the light margin. */
interface QrCode {
  readonly size: number;
  readonly path: string;
}

/** Capacity in bytes of a QR code of version 22 at error correction level L. The URI of an authenticator is shorter. */
const maxBytes = 1003;

/**
 * Draws a QR code for authenticator apps to read from a screen.
 * @returns `undefined` if the text is too long
 */
export function qrCode(text: string): QrCode | undefined {
  if (Buffer.byteLength(text) > maxBytes) return undefined;
  const { size, data } = encode(text, { ecc: 'L', border: 0 });
  return { size, path: data.map(drawRow).join('') };
}

/** Draws one rectangle for each run of dark modules in a row. */
function drawRow(row: readonly boolean[], y: number): string {
  const text = row.map((dark) => (dark ? '1' : '0')).join('');
  const runs = Array.from(text.matchAll(/1+/g));
  return runs.map(({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`).join('');
}
