import { type Browser, formToken } from '../browser.ts';
import { type Html, html } from './html.ts';
import type { Page } from './page.ts';

/** What every page with a form shows and carries. Its form is posted to the page's own address, which holds the request. */
export interface FormPage {
  /** Of the client. */
  readonly clientName: string;
  /** `null`: the answer is a page of ours. */
  readonly redirectUri: string | null;
  readonly browser: Browser;
  /** `Set-Cookie`, unless the browser has its cookie. */
  readonly cookie: string | undefined;
}

/** What the reply of a page with a form needs of it. */
export function formParts({ redirectUri, cookie }: FormPage): Pick<Page, 'formTargets' | 'cookie'> {
  return {
    formTargets: redirectUri === null ? [] : formTargets(redirectUri),
    ...(cookie === undefined ? {} : { cookie }),
  };
}

/** What shows that the form was made for this browser. */
export function formField({ browser }: FormPage): Html {
  return html`<input type="hidden" name="form" value="${formToken(browser)}">`;
}

/** Shows where the answer goes: any client can have any name, but not any address. */
export function receiverNote({ redirectUri }: FormPage): Html | undefined {
  if (redirectUri === null) return undefined;
  return html`<p class="note">You will be sent to <strong>${receiverOf(redirectUri)}</strong>.</p>`;
}

/**
 * Where a form may lead to when its answer redirects to this URI, as CSP's `form-action` writes it. Chromium holds every
 * hop to it that follows, and a client may send its user on from its redirect URI: so any `https:` is allowed.
 */
export function formTargets(redirectUri: string): readonly string[] {
  const { protocol, hostname, origin } = new URL(redirectUri);
  if (protocol === 'https:') return [protocol];
  // CSP has no way to write an IPv6 address.
  const isWritable = protocol === 'http:' && !hostname.startsWith('[');
  return [isWritable ? origin : protocol, 'https:'];
}

function receiverOf(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === 'https:') return host;
  if (protocol === 'http:') return `a program on this device (${hostname})`;
  return `the app ${protocol.slice(0, -1)} on this device`;
}
