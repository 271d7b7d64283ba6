import type { Reply } from '../../../http/types.ts';
import type { WaitingDevice } from '../../oauth/device-codes.ts';
import { type FormPage, formReply } from './form-page.ts';
import { html } from './html.ts';
import { pageReply } from './page.ts';

/** The longest input that is parsed, including separators that people type. */
const longestCode = 32;

/**
 * The page on which a user enters the code that a device shows (RFC 8628 §3.3).
 * @param wrong the previous input, which was not a valid code
 */
export function codePage(wrong?: string): Reply {
  const error = wrong !== undefined;
  const described = html` aria-invalid="true" aria-describedby="error"`;
  return pageReply({
    status: error ? 404 : 200,
    title: error ? 'Error: Connect a device' : 'Connect a device',
    formTargets: [],
    content: html`<h1>Connect a device</h1>
<p>Enter the code that the device or the command line shows.</p>
${error ? html`<p class="error" id="error" role="alert">This code is wrong or has expired.</p>` : undefined}
<form method="get">
<label for="user_code">Code</label>
<input id="user_code" name="user_code" type="text" autocomplete="off" autocapitalize="characters"
 autocorrect="off" spellcheck="false" maxlength="${longestCode}" required autofocus
 value="${wrong?.slice(0, longestCode) ?? ''}"${error ? described : undefined}>
<button>Continue</button>
</form>`,
  });
}

/** The page on which a user allows or denies a device access. Someone else may have sent them its address (RFC 8628 §5.4). */
export function devicePage(page: FormPage, { userCode, address }: WaitingDevice, email: string): Reply {
  return formReply(page, {
    title: 'Connect this device?',
    heading: `Connect ${page.clientName}?`,
    intro: html`<p>It asks from <strong>${address}</strong> and shows the code <strong>${userCode}</strong>. It will act as
<strong>${email}</strong>.</p>
<p class="note">Continue only if you have just started this yourself and the code is the same there.</p>`,
    form: html`<button name="action" value="continue">Continue</button>
<button class="other" name="action" value="switch">Use another account</button>
<button class="other" name="action" value="cancel">Cancel</button>`,
  });
}

/** The page after the decision. */
export function deviceDonePage(clientName: string, allowed: boolean): Reply {
  const [title, text] = allowed
    ? ['Device connected', html`${clientName} continues automatically. You can close this page.`]
    : ['Device not connected', html`${clientName} gets no access. You can close this page.`];
  return pageReply({ status: 200, title, content: html`<h1>${title}</h1>\n<p>${text}</p>` });
}
