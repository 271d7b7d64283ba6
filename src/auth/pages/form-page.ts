import { type Browser, formToken } from '../browser.ts';
import { type Html, html } from './html.ts';
import type { Page } from './page.ts';

/** The common parts of pages with a form. The form is posted to the page's own address, which contains the request. */
export interface FormPage {
  /** The name of the client. */
  readonly clientName: string;
  /** `null` if the answer is a page of ours. */
  readonly redirectUri: string | null;
  readonly browser: Browser;
  /** `Set-Cookie`, unless the browser has its cookie. */
  readonly cookie: string | undefined;
}

/** The parts of a page's reply that depend on its form. */
export function formParts({ redirectUri, cookie }: FormPage): Pick<Page, 'formTargets' | 'cookie'> {
  return {
    formTargets: redirectUri === null ? [] : formTargets(redirectUri),
    ...(cookie === undefined ? {} : { cookie }),
  };
}

/** The field with the CSRF token of this browser. */
export function formField({ browser }: FormPage): Html {
  return html`<input type="hidden" name="form" value="${formToken(browser)}">`;
}

/** Shows where the answer goes. A client can choose any name, but not any address. */
export function receiverNote({ redirectUri }: FormPage): Html | undefined {
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
