import { Refusal } from '../../../contract/errors.ts';
import type { HttpResponse } from '../../../http/types.ts';
import { OAuthError } from '../../oauth/oauth-error.ts';
import { html } from './html.ts';
import { pageResponse } from './page.ts';

/**
 * The page for an error that cannot be returned to the client.
 * @param reason for the operator of the client
 */
export function failurePage(status: number, reason: string, retryAfter?: number): HttpResponse {
  return pageResponse({
    status,
    title: 'Sign-in is not possible',
    retryAfter: retryAfter && Math.ceil(retryAfter),
    content: html`<h1>Sign-in is not possible</h1>
<p>Go back to the app that sent you here and try again. If it happens again, contact the operator of that app:</p>
<p class="error">${reason}.</p>`,
  });
}

/** The page shown while accounts are unavailable. The client is not at fault. */
export function laterPage({ status, message, retryAfter = 1 }: Refusal): HttpResponse {
  return pageResponse({
    status,
    title: 'Temporarily unavailable',
    retryAfter: Math.ceil(retryAfter),
    content: html`<h1>Temporarily unavailable</h1>
<p>This server cannot read accounts now. Nothing is lost. Wait a few seconds, then load this page again.</p>
<p class="note">${message}.</p>`,
  });
}

/** The page for a refusal. @throws any other error */
export function refusalPage(error: unknown): HttpResponse {
  if (error instanceof Refusal && error.code === 'postgres_unavailable') return laterPage(error);
  if (error instanceof OAuthError || error instanceof Refusal)
    return failurePage(error.status, error.message, error.retryAfter);
  throw error;
}
