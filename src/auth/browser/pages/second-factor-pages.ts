import type { Reply } from '../../../http/types.ts';
import { errorAttributes, type FormError, type FormPage, formReply } from './form-page.ts';
import { type Html, html } from './html.ts';
import { qrCode } from './qr-code.ts';

const cancel = html`<button class="other" name="action" value="cancel" formnovalidate>Cancel</button>`;

/** The page on which a user enters a code of the authenticator app, after the password. */
export function codePage(page: FormPage, email: string, error?: FormError): Reply {
  return formReply(page, {
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

/** The same page for a user without the authenticator app at hand. */
export function recoveryPage(page: FormPage, email: string, error?: FormError): Reply {
  return formReply(page, {
    title: 'Use a recovery code',
    intro: html`<p>Enter one of the recovery codes of <strong>${email}</strong>. Each can be used once.</p>`,
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
  /** The secret as the form returns it. */
  readonly signed: string;
}

/** The page on which a user sets up an authenticator app. */
export function enrolmentPage(
  page: FormPage,
  email: string,
  { secret, uri, signed }: ShownSecret,
  error?: FormError,
): Reply {
  return formReply(page, {
    title: 'Set up two-step verification',
    intro: html`<p>Scan this code with an authenticator app, then enter the code that the app shows for
<strong>${email}</strong>. From then on, signing in with the password also needs a code of the app.</p>
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
export function authenticatorPage(page: FormPage, email: string, left: number): Reply {
  return formReply(page, {
    title: 'Two-step verification',
    intro: html`<p><strong>${email}</strong> has an authenticator app, and ${left} of 10 recovery codes left.</p>
<p class="note">New recovery codes replace all others.</p>`,
    form: html`<button name="action" value="recovery-codes">New recovery codes</button>
<button class="other" name="action" value="cancel">Back</button>`,
  });
}

/** The page that shows new recovery codes, once. */
export function recoveryCodesPage(page: FormPage, codes: readonly string[]): Reply {
  return formReply(page, {
    title: 'Save your recovery codes',
    intro: html`<p>Each of these codes replaces the authenticator app once, for example if the device is lost. They are not shown
again.</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a download="flagmeter-recovery-codes.txt" href="data:text/plain,${codes.join('%0A')}">Download the codes</a></p>`,
    form: html`<button name="action" value="enrolled">I have saved the codes</button>`,
  });
}
