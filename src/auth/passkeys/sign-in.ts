import type { Request } from '../../http/types.ts';
import type { OAuthClient } from '../../storage/lmdb/records.ts';
import type { Browser } from '../browser.ts';
import { draftSignIn, userAgentOf } from '../draft-sign-in.ts';
import type { Form } from '../form.ts';
import type { SignInResult } from '../sign-in.ts';
import { acceptPasskey, type PasskeyFailure, type PasskeySettings } from './accept-passkey.ts';
import { readAssertion } from './web-authn.ts';

/** The form of a page that a passkey has answered. */
export interface AnsweredForm {
  readonly request: Request;
  readonly form: Form;
  readonly browser: Browser;
}

type SignedIn = Extract<SignInResult, { outcome: 'signed-in' }>;

/**
 * Signs in the user of the passkey in a form. Its device has verified the user, so the passkey is two factors at once.
 * @throws {OAuthError} `invalid_request` if the form is malformed
 * @throws {ApiError} `store_unavailable`
 */
export function signInByPasskey(
  settings: PasskeySettings,
  { request, form, browser }: AnsweredForm,
  client: OAuthClient,
): Promise<SignedIn | { readonly outcome: 'not-a-member'; readonly email: string } | PasskeyFailure> {
  const proof = { assertion: readAssertion(form), address: request.remoteAddress, browser };
  const authentication = { factors: ['passkey'], userAgent: userAgentOf(request) } as const;
  return acceptPasskey(settings, proof, (draft, user) => {
    const drafted = draftSignIn(settings, draft, user, { client, browser, authentication });
    return drafted.outcome === 'signed-in' ? drafted : { ...drafted, email: user.email };
  });
}
