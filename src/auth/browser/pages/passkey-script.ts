import type { PasskeyOptions } from '../../factors/passkeys/options.ts';
import { type Html, html } from './html.ts';
import { pageScript } from './page.ts';

/**
 * A button that sends the form with a response of a passkey. Without the script it stays hidden.
 * @param action value of the form's field
 * @param offered whether the browser also offers passkeys in the field of the e-mail address
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
 * Shows the button, asks the browser for a passkey (WebAuthn §5.1), and sends its bytes in fields of the form. Browsers before 2025
 * lack the JSON methods of WebAuthn, so the script encodes the bytes itself.
 */
export const passkeyScript = pageScript(`
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
