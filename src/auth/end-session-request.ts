import type { Request } from '../http/types.ts';
import type { TokenSettings } from './access-token.ts';
import { findClient, matchesRedirect } from './clients.ts';
import { type Form, isForm, parseForm, readForm } from './form.ts';
import { type IdTokenHint, readIdTokenHint } from './id-token.ts';
import { OAuthError } from './oauth-error.ts';
import type { SessionDeps } from './sessions.ts';

/** A client's request to sign its user out (OpenID Connect RP-Initiated Logout §2). */
export interface EndSessionRequest {
  /** The user, and the session of the client; `undefined` if the request has no hint. */
  readonly hint: IdTokenHint | undefined;
  /** Where the user goes afterwards; `undefined` unless registered for the client. */
  readonly returnTo: { readonly uri: string; readonly state: string | null } | undefined;
}

/**
 * Reads the parameters from the query and, for a `POST`, from the form.
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
    throw new OAuthError('invalid_request', 'id_token_hint is not an ID token issued by this service');
  const clientId = parameters.get('client_id');
  if (clientId !== undefined && clientId !== hint.aud)
    throw new OAuthError('invalid_request', 'client_id differs from the client of id_token_hint');
  return hint;
}

/** An unregistered address is ignored: the user is signed out, but not sent there. */
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
