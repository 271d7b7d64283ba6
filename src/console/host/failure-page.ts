import { laterPage } from '../../auth/browser/pages/failure-page.ts';
import { html } from '../../auth/browser/pages/html.ts';
import { pageReply } from '../../auth/browser/pages/page.ts';
import { OAuthError } from '../../auth/oauth/clients/oauth-error.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Reply } from '../../http/types.ts';

/** The page for a failed sign-in, below `/console`. */
export function signInFailed(status: number, reason: string, retryAfter?: number): Reply {
  return pageReply({
    status,
    title: 'Not signed in',
    ...(retryAfter === undefined ? {} : { retryAfter: Math.ceil(retryAfter) }),
    content: html`<h1>You are not signed in</h1>
<p class="error">${reason}.</p>
<p class="note"><a href="sign-in">Sign in to the console</a></p>`,
  });
}

/** The page for a refusal. @throws other errors unchanged */
export function failurePage(error: unknown): Reply {
  if (error instanceof ApiError && error.code === 'engine_unavailable') return laterPage(error);
  if (error instanceof OAuthError || error instanceof ApiError)
    return signInFailed(error.status, error.message, error.retryAfter);
  throw error;
}
