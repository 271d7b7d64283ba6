import type { Reply } from '../../../http/types.ts';
import { type Browser, formToken } from '../../cookies/browser.ts';
import type { PasskeyPages } from '../../factors/passkeys/options.ts';
import { type Html, html } from './html.ts';
import { type PageScript, pageReply } from './page.ts';
import { passkeyScript } from './passkey-script.ts';

/** The common parts of pages with a form. The form is posted to the page's own address, which contains the request. */
export interface FormPage {
  readonly clientName: string;
  /** `null` if the answer is a page of ours. */
  readonly redirectUri: string | null;
  /** The identity providers that a user can sign in with, each with the address that leads there. */
  readonly providers: readonly { readonly name: string; readonly address: string }[];
  /** Whether an e-mail address alone may lead to a provider. */
  readonly leadsByEmail: boolean;
  readonly browser: Browser;
  /** `Set-Cookie`, unless the browser has its cookie. */
  readonly cookie: string | undefined;
  /** Absent if browsers allow no passkeys here. */
  readonly passkeys?: PasskeyPages | undefined;
}

/** The error of the previous attempt. */
export interface FormError {
  readonly status: number;
  readonly text: string;
  /** Whether the error is about the typed credentials. */
  readonly typed?: boolean;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** Replies with a page that has one form. The form carries the CSRF token of this browser. */
export function formReply(
  page: FormPage,
  content: {
    readonly title: string;
    /** By default, the title. */
    readonly heading?: string;
    readonly intro: Html;
    readonly error?: FormError | undefined;
    /** The fields and buttons. */
    readonly form: Html;
    /** The button of the form that uses a passkey. */
    readonly passkey?: Html | undefined;
    readonly script?: PageScript;
    /** What comes after the form. */
    readonly more?: Html | undefined;
  },
): Reply {
  const { title, heading = title, intro, error, form, passkey, script, more } = content;
  return pageReply({
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

/** The attributes of a field that the error is about. */
export function errorAttributes(error: FormError | undefined): Html | undefined {
  return error && html`${error.typed ? html` aria-invalid="true"` : undefined} aria-describedby="error"`;
}

/** Shows where the answer goes. A client can choose any name, but not any address. */
function receiverNote({ redirectUri }: FormPage): Html | undefined {
  if (redirectUri === null) return undefined;
  return html`<p class="note">You will be sent to <strong>${receiverOf(redirectUri)}</strong>.</p>`;
}

/**
 * The targets that a form may reach when its answer redirects to this URI, as a CSP `form-action` source. Chromium applies it
 * to every later hop, too, and a client may redirect further. Any `https:` is therefore allowed.
 */
export function formTargets(redirectUri: string): readonly string[] {
  const { protocol, hostname, origin } = new URL(redirectUri);
  if (protocol === 'https:') return [protocol];
  // CSP cannot express an IPv6 address.
  const isWritable = protocol === 'http:' && !hostname.startsWith('[');
  return [isWritable ? origin : protocol, 'https:'];
}

function receiverOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === 'https:') return host;
  if (protocol === 'http:') return `a program on this device (${hostname})`;
  return `the app ${protocol.slice(0, -1)} on this device`;
}
