import type { HttpResponse } from '../../../http/types.ts';
import { type Browser, formToken } from '../../cookies/browser.ts';
import type { PasskeyOptions, PasskeyPages } from '../../factors/passkeys/options.ts';
import { type Html, html } from './html.ts';
import { type PageScript, pageResponse, pageScript } from './page.ts';

/** The common parts of pages with a form. The form is posted to the page's own address, which contains the request. */
export interface FormPage {
  readonly clientName: string;
  /** The address to which the browser returns; `null` if the browser stays on our pages. */
  readonly redirectUri: string | null;
  /** True if the browser returns to the console. The page then omits the address to which it returns. */
  readonly isConsole: boolean;
  /** The identity providers that a user can sign in with, each with the address that starts the sign-in. */
  readonly providers: readonly { readonly name: string; readonly address: string }[];
  /** True if users of some e-mail domains must sign in with an identity provider. */
  readonly leadsByEmail: boolean;
  readonly browser: Browser;
  /** `Set-Cookie`; `undefined` if the browser already has its cookie. */
  readonly cookie: string | undefined;
  /** Absent if browsers allow no passkeys at the URL of the auth host. */
  readonly passkeys?: PasskeyPages | undefined;
}

export interface FormError {
  readonly status: number;
  readonly text: string;
  /** True if the error is about the typed credentials. */
  readonly typed?: boolean;
  /** Value of `Retry-After`, seconds. */
  readonly retryAfter?: number;
}

/** Responds with a page that has one form. The form contains the CSRF token of this browser. */
export function formResponse(
  page: FormPage,
  content: {
    readonly title: string;
    readonly heading?: string;
    readonly intro: Html;
    readonly error?: FormError | undefined;
    readonly form: Html;
    readonly passkey?: Html | undefined;
    readonly script?: PageScript;
    readonly more?: Html | undefined;
  },
): HttpResponse {
  const { title, heading = title, intro, error, form, passkey, script, more } = content;
  return pageResponse({
    status: error?.status ?? 200,
    title: error === undefined ? title : `Error: ${title}`,
    formTargets: page.redirectUri === null ? [] : formTargets(page.redirectUri),
    cookie: page.cookie,
    retryAfter: error?.retryAfter,
    script: script ?? (passkey && passkeyScript),
    content: html`<h1>${heading}</h1>
${intro}
${error && html`<p class="error" id="error" role="alert">${error.text}</p>`}
<form method="post">
<input type="hidden" name="form" value="${formToken(page.browser)}">
${form}
</form>
${more}
${receiverNote(page)}`,
  });
}

/** Attributes of the field that the error is about. */
export function errorAttributes(error: FormError | undefined): Html | undefined {
  return error && html`${error.typed ? html` aria-invalid="true"` : undefined} aria-describedby="error"`;
}

/** Shows the address that the browser is sent to. A client can freely choose its name, but not this address. */
function receiverNote({ redirectUri, isConsole }: FormPage): Html | undefined {
  if (redirectUri === null || isConsole) return undefined;
  return html`<p class="note">You will be sent to <strong>${describeReceiver(redirectUri)}</strong>.</p>`;
}

/**
 * CSP `form-action` sources for a form whose response redirects to this URI. Chromium also checks further redirects,
 * such as redirects by the client, so any `https:` address is allowed.
 */
export function formTargets(redirectUri: string): readonly string[] {
  const { protocol, hostname, origin } = new URL(redirectUri);
  if (protocol === 'https:') return [protocol];
  // CSP cannot express an IPv6 address, so its whole scheme is allowed.
  const isWritable = protocol === 'http:' && !hostname.startsWith('[');
  return [isWritable ? origin : protocol, 'https:'];
}

function describeReceiver(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === 'https:') return host;
  if (protocol === 'http:') return `a program on this device (${hostname})`;
  return `the app ${protocol.slice(0, -1)} on this device`;
}

/**
 * A button that sends the form with the response of a passkey. The button stays hidden if scripts are disabled.
 * @param action value of the form's field
 * @param offered true if the browser also offers passkeys in the field of the e-mail address
 */
export function passkeyButton(
  action: string,
  label: string,
  options: PasskeyOptions,
  { offered = false, primary = false }: { readonly offered?: boolean; readonly primary?: boolean } = {},
): Html {
  return html`<button${primary ? undefined : html` class="other"`} name="action" value="${action}" formnovalidate hidden
 data-passkey="${JSON.stringify(options)}"${offered ? html` data-offered` : undefined}>${label}</button>
<p class="note" id="passkey-status" role="status" hidden></p>`;
}

/**
 * Shows the button, asks the browser for a passkey (WebAuthn §5.1), and sends the bytes of the response in fields of
 * the form. Browsers before 2025 lack the JSON methods of WebAuthn, so the script encodes the bytes.
 */
const passkeyScript = pageScript(`
(() => {
  const button = document.querySelector('[data-passkey]');
  if (!window.PublicKeyCredential || !button) return;
  const status = document.getElementById('passkey-status');
  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (each) => each.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=/g, '');
  const publicKey = JSON.parse(button.dataset.passkey);
  const { user, allowCredentials = [], excludeCredentials = [] } = publicKey;
  publicKey.challenge = bytes(publicKey.challenge);
  if (user) user.id = bytes(user.id);
  for (const each of [...allowCredentials, ...excludeCredentials]) each.id = bytes(each.id);

  const send = ({ rawId, response }) => {
    const fields = {
      credential: text(rawId),
      client_data: text(response.clientDataJSON),
      authenticator_data: response.signature && text(response.authenticatorData),
      signature: response.signature && text(response.signature),
      user_handle: response.userHandle && text(response.userHandle),
      attestation: response.attestationObject && text(response.attestationObject),
      transports: response.getTransports && response.getTransports().join(' '),
    };
    for (const [name, value] of Object.entries(fields)) {
      if (!value) continue;
      const field = button.form.elements.namedItem(name) || document.createElement('input');
      Object.assign(field, { type: 'hidden', name, value });
      button.form.append(field);
    }
    button.form.requestSubmit(button);
  };

  let asking;
  const ask = async (mediation) => {
    if (asking) asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    status.hidden = true;
    try {
      send(
        user
          ? await navigator.credentials.create({ publicKey, signal })
          : await navigator.credentials.get({ publicKey, signal, mediation }),
      );
    } catch (error) {
      if (signal.aborted || mediation === 'conditional') return;
      status.textContent =
        error.name === 'InvalidStateError'
          ? 'This device has a passkey for this account already.'
          : 'No passkey was used. Try again, or continue without one.';
      status.hidden = false;
    }
  };

  button.hidden = false;
  button.addEventListener('click', (event) => {
    event.preventDefault();
    ask('optional');
  });
  const { isConditionalMediationAvailable } = PublicKeyCredential;
  if ('offered' in button.dataset && isConditionalMediationAvailable)
    isConditionalMediationAvailable
      .call(PublicKeyCredential)
      .then((available) => available && !asking && ask('conditional'));
})();
`);
