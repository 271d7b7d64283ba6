import type { HttpResponse } from '../../../http/types.ts';
import { formTargets } from './form-page.ts';
import { html } from './html.ts';
import { pageResponse } from './page.ts';

/**
 * The page on which users confirm that they want to sign out. The form is posted to the page's own address.
 * @param returnTo the address that they are sent to afterwards
 */
export function signOutPage(email: string, returnTo: string | undefined): HttpResponse {
  return pageResponse({
    status: 200,
    title: 'Sign out?',
    formTargets: returnTo === undefined ? [] : formTargets(returnTo),
    content: html`<h1>Sign out?</h1>
<p>You are signed in as <strong>${email}</strong>. Apps that you signed in to from here are signed out, too.</p>
<form method="post">
<button autofocus>Sign out</button>
</form>`,
  });
}

export function signedOutPage(): HttpResponse {
  return pageResponse({
    status: 200,
    title: 'Signed out',
    content: html`<h1>You are signed out</h1>
<p>You can close this page.</p>`,
  });
}

/** The page for a failed sign-out. @param reason for the operator of the client */
export function signOutFailurePage(status: number, reason: string): HttpResponse {
  return pageResponse({
    status,
    title: 'Sign-out failed',
    content: html`<h1>You are not signed out</h1>
<p>Go back to the app that sent you here and try again. If it happens again, contact the operator of that app:</p>
<p class="error">${reason}.</p>`,
  });
}
