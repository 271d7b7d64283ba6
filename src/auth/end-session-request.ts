import type { Request } from '../http/types.ts';
import type { TokenSettings } from './access-token.ts';
import { findClient, matchesRedirect } from './clients.ts';
import { type Form, isForm, parseForm, readForm } from './form.ts';
import { type IdTokenHint, readIdTokenHint } from './id-token.ts';
import { OAuthError } from './oauth-error.ts';
import type { SessionDeps } from './sessions.ts';

/** What a client asks for when it sends its user to sign out (OpenID Connect RP-Initiated Logout §2). */
export interface EndSessionRequest {
  /** Who was signed in to the client, and in which session; `undefined` when the client does not say. */
  readonly hint: IdTokenHint | undefined;
  /** Where the user goes afterwards; `undefined` unless it is a registered address of the client. */
  readonly returnTo: { readonly uri: string; readonly state: string | null } | undefined;
}

/**
 * Reads the parameters from the query and, of a `POST`, from the form.
 * @throws {OAuthError} `invalid_request`
 */
export async function readEndSessionRequest(
  deps: SessionDeps & TokenSettings,
  request: Request,
): Promise<EndSessionRequest> {
  const form = isForm(request) ? await readForm(request) : new Map<string, string>();
  const parameters: Form = new Map([...parseForm(request.query), ...form]);
  const hint = await readHint(deps, parameters);
  return { hint, returnTo: readReturn(deps, parameters, hint) };
}

async function readHint(settings: TokenSettings, parameters: Form): Promise<IdTokenHint | undefined> {
  const text = parameters.get('id_token_hint');
  if (text === undefined) return undefined;
  const hint = await readIdTokenHint(settings, text);
  if (hint === undefined)
    throw new OAuthError('invalid_request', 'id_token_hint is no ID token that this service has issued');
  const clientId = parameters.get('client_id');
  if (clientId !== undefined && clientId !== hint.aud)
    throw new OAuthError('invalid_request', 'client_id is not the client that id_token_hint was issued to');
  return hint;
}

/** An address that is not registered is ignored: the user is signed out, but not sent there. */
function readReturn(
  { directory, audience }: SessionDeps & TokenSettings,
  parameters: Form,
  hint: IdTokenHint | undefined,
): EndSessionRequest['returnTo'] {
  const uri = parameters.get('post_logout_redirect_uri');
  const client = findClient(directory, hint?.aud ?? parameters.get('client_id') ?? '');
  if (uri === undefined || client === undefined || !matchesRedirect(client, uri, audience)) return undefined;
  return { uri, state: parameters.get('state') ?? null };
}
