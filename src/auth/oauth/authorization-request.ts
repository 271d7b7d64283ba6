import Type from 'typebox';
import { text } from '../../contract/shapes/fields.ts';
import type { HttpResponse } from '../../http/types.ts';
import type { OAuthClient } from '../../storage/lmdb/records.ts';
import { type Form, findClient, matchesRedirect } from './clients.ts';
import { parseParameters, repeatedParameter } from './forms.ts';
import type { Services } from './services.ts';

interface ReturnAddress {
  readonly redirectUri: string;
  readonly state: string | null;
  /** True if the client requested a response without a page: `prompt=none` (OpenID Connect Core §3.1.2.1). */
  readonly silent: boolean;
}

/** Values of `prompt` (OpenID Connect Core §3.1.2.1). Users are not asked for consent: signing in implies consent. */
const prompts = ['none', 'login', 'consent', 'select_account'] as const;
type Prompt = (typeof prompts)[number];

/** A valid authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1). */
export interface AuthorizationRequest extends ReturnAddress {
  readonly client: OAuthClient;
  /** The granted scopes: the requested scopes that exist. */
  readonly scope: string;
  readonly challenge: string;
  readonly nonce: string | null;
  readonly prompt: ReadonlySet<Prompt>;
  /** Maximum time since the user signed in, seconds; `null` for no limit. */
  readonly maxAge: number | null;
  readonly loginHint: string | null;
  /** An ID token that is not verified yet. */
  readonly idTokenHint: string | null;
}

/** An unknown client or redirect URI. The user sees the error, because the browser cannot be redirected. */
export class UnknownReturnAddress extends Error {
  override readonly name = 'UnknownReturnAddress';
}

/** Error codes of RFC 6749 §4.1.2.1 and OpenID Connect Core §3.1.2.6. */
export type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'access_denied'
  | 'temporarily_unavailable'
  | 'login_required'
  | 'interaction_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported';

export class AuthorizationError extends Error {
  override readonly name = 'AuthorizationError';
  readonly code: AuthorizationErrorCode;
  readonly to: ReturnAddress;

  constructor(code: AuthorizationErrorCode, description: string, to: ReturnAddress) {
    super(description);
    this.code = code;
    this.to = to;
  }
}

/** Maximum lengths, in characters. A longer value is rejected, never truncated. */
const longest = { state: 2048, nonce: 512, login_hint: 256, id_token_hint: 8192 };

/** Form of an S256 challenge: 256 bits in base64url (RFC 7636 §4.2). */
const challengeForm = /^[\w-]{43}$/;

const limited = (name: keyof typeof longest, description: string) =>
  Type.Optional(Type.String({ maxLength: longest[name], description }));

/** Parameters of an authorization request. Other parameters are ignored. */
export const authorizationParameters = Type.Object({
  client_id: text('The sign-in client.'),
  redirect_uri: text('A redirect URI that the client has registered.'),
  response_type: Type.Literal('code'),
  response_mode: Type.Optional(Type.Literal('query')),
  scope: text('The scopes, separated by spaces. `openid` is required.'),
  code_challenge: Type.String({
    pattern: challengeForm.source,
    description: 'The PKCE challenge, which is required (RFC 7636).',
  }),
  code_challenge_method: Type.Literal('S256'),
  state: limited('state', 'Returned unchanged.'),
  nonce: limited('nonce', 'A value that the ID token will contain.'),
  prompt: Type.Optional(text(`One or more of ${prompts.join(', ')}, separated by spaces.`)),
  max_age: Type.Optional(text('Maximum time since the user signed in, seconds.')),
  login_hint: limited('login_hint', 'The e-mail address that the sign-in page shows.'),
  id_token_hint: limited('id_token_hint', 'An ID token of the expected user.'),
});

/**
 * Reads an authorization request.
 * @param text as `application/x-www-form-urlencoded`, without the `?`
 * @throws {UnknownReturnAddress}
 * @throws {AuthorizationError}
 * @throws {OAuthError} `invalid_request`: broken encoding
 */
export function readAuthorizationRequest(services: Services, text: string): AuthorizationRequest {
  const { form, repeated } = parseParameters(text);
  const client = readClient(services, form, repeated);
  const redirectUri = readRedirectUri(services, client, form, repeated);
  const to = {
    redirectUri,
    state: repeated.has('state') ? null : short(form, 'state'),
    silent: splitWords(form.get('prompt')).includes('none'),
  };
  const refuse = (code: AuthorizationErrorCode, description: string) => {
    throw new AuthorizationError(code, description, to);
  };
  const [twice] = repeated;
  if (twice !== undefined) refuse('invalid_request', repeatedParameter);
  for (const name of ['state', 'nonce', 'login_hint', 'id_token_hint'] as const)
    if (form.has(name) && short(form, name) === null) refuse('invalid_request', `${name} is too long`);
  checkKind(form, refuse);
  return {
    client,
    ...to,
    scope: readScope(form, services.serviceScope, refuse),
    challenge: readChallenge(form, refuse),
    nonce: short(form, 'nonce'),
    prompt: readPrompt(form, refuse),
    maxAge: readMaxAge(form, refuse),
    loginHint: short(form, 'login_hint'),
    idTokenHint: short(form, 'id_token_hint'),
  };
}

type Refuse = (code: AuthorizationErrorCode, description: string) => void;

function readClient({ directory }: Services, form: Form, repeated: ReadonlySet<string>): OAuthClient {
  const id = form.get('client_id');
  const client = id === undefined || repeated.has('client_id') ? undefined : findClient(directory, id);
  if (client !== undefined) return client;
  throw new UnknownReturnAddress('client_id is missing or not registered');
}

/** Reads the redirect URI. It is required even if the client has registered only one. */
function readRedirectUri(
  { audience }: Services,
  client: OAuthClient,
  form: Form,
  repeated: ReadonlySet<string>,
): string {
  const uri = form.get('redirect_uri');
  if (uri !== undefined && !repeated.has('redirect_uri') && matchesRedirect(client, uri, audience)) return uri;
  throw new UnknownReturnAddress(`redirect_uri is missing or not registered for ${client.name}`);
}

function checkKind(form: Form, refuse: Refuse): void {
  for (const name of ['request', 'request_uri', 'registration'] as const)
    if (form.has(name)) refuse(`${name}_not_supported`, `Send the parameters themselves, not ${name}`);
  const type = form.get('response_type');
  if (type === undefined) refuse('invalid_request', 'response_type is missing');
  if (type !== 'code') refuse('unsupported_response_type', 'response_type must be code');
  if ((form.get('response_mode') ?? 'query') !== 'query') refuse('invalid_request', 'response_mode must be query');
}

function readScope(form: Form, serviceScope: string, refuse: Refuse): string {
  const granted = grantedScope(form.get('scope'), serviceScope);
  if (granted === undefined) refuse('invalid_scope', `scope must include openid; ${serviceScope} is for the API`);
  return granted ?? '';
}

/**
 * The granted scopes; `undefined` without `openid`. Unknown scopes are ignored, as OpenID Connect Core §3.1.2.1
 * requires. The token response lists the granted scopes.
 */
export function grantedScope(text: string | undefined, serviceScope: string): string | undefined {
  const asked = (text ?? '').split(' ');
  if (!asked.includes('openid')) return undefined;
  return ['openid', 'email', serviceScope].filter((scope) => asked.includes(scope)).join(' ');
}

/** Reads the PKCE challenge. Every client must use S256 (RFC 9700 §2.1.1). The default method would be `plain`. */
function readChallenge(form: Form, refuse: Refuse): string {
  const challenge = form.get('code_challenge') ?? '';
  if (form.get('code_challenge_method') !== 'S256' || !challengeForm.test(challenge))
    refuse('invalid_request', 'PKCE is required: send code_challenge, with code_challenge_method S256');
  return challenge;
}

function readPrompt(form: Form, refuse: Refuse): ReadonlySet<Prompt> {
  const asked = new Set(splitWords(form.get('prompt')));
  const known = prompts.filter((prompt) => asked.has(prompt));
  if (known.length < asked.size) refuse('invalid_request', `prompt must contain only ${prompts.join(', ')}`);
  if (asked.has('none') && asked.size > 1) refuse('invalid_request', 'prompt must not combine none with another value');
  return new Set(known);
}

function readMaxAge(form: Form, refuse: Refuse): number | null {
  const text = form.get('max_age');
  if (text === undefined) return null;
  if (!/^\d{1,10}$/.test(text)) refuse('invalid_request', 'max_age must be a number of seconds');
  return Number(text);
}

function splitWords(text = ''): string[] {
  return text.split(' ').filter((word) => word !== '');
}

/** A parameter within its maximum length; `null` if absent or too long. */
function short(form: Form, name: keyof typeof longest): string | null {
  const value = form.get(name);
  return value === undefined || value.length > longest[name] ? null : value;
}

/**
 * The response with a code (RFC 6749 §4.1.2).
 * @param issuer identifies the sender of the response (RFC 9207)
 */
export function codeResponse({ redirectUri, state }: ReturnAddress, code: string, issuer: string): HttpResponse {
  return redirect(redirectUri, { code, state, iss: issuer });
}

export function errorResponse({ code, message, to }: AuthorizationError, issuer: string): HttpResponse {
  const { redirectUri, state } = to;
  return redirect(redirectUri, { error: code, error_description: message, state, iss: issuer });
}

/**
 * Redirects to a registered URI, and adds parameters to its query. A registered URI has no fragment. After a 303, the
 * browser does not post the form again (RFC 9700 §4.12).
 */
export function redirect(uri: string, parameters: Readonly<Record<string, string | null>>): HttpResponse {
  const sent = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== null);
  const location = `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(sent)}`;
  return { status: 303, headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } };
}
