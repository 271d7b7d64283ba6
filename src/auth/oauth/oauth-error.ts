import Type from 'typebox';
import { oneOf, text } from '../../contract/shapes/fields.ts';
import { type DeclaredResponse, type Headers, NotCached } from '../../http/endpoint.ts';
import { sharedHeaders } from '../../http/request-ids.ts';
import type { HttpResponse } from '../../http/types.ts';

/**
 * Error codes of RFC 6749 §5.2, of RFC 8628 §3.5 for polling devices, and of RFC 6750 §3.1 for bearer tokens. The code
 * of an unavailable service is from RFC 6749 §4.1.2.1.
 */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'temporarily_unavailable';

/** Error codes of refusals with the same status, each with a sample description. */
export type OAuthRefusals = Readonly<Partial<Record<OAuthErrorCode, string>>>;

/** Headers of uncached responses. Token responses must not be cached (RFC 6749 §5.1). */
export const uncached = sharedHeaders({
  'content-type': 'application/json',
  'cache-control': 'no-store',
  pragma: 'no-cache',
});

/** A refused token request. The description is shown to the client and contains no secrets. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** The value of `WWW-Authenticate`, if required. */
  readonly challenge: string | undefined;
  /** Seconds for `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(
    code: OAuthErrorCode,
    description: string,
    {
      status = 400,
      challenge,
      retryAfter,
    }: { status?: number; challenge?: string | undefined; retryAfter?: number | undefined } = {},
  ) {
    super(description);
    this.code = code;
    this.status = status;
    this.challenge = challenge;
    this.retryAfter = retryAfter;
  }
}

/** Makes the response for an error (RFC 6749 §5.2). */
export function oauthErrorResponse({ code, message, status, challenge, retryAfter }: OAuthError): HttpResponse {
  return {
    status,
    headers: {
      ...uncached,
      ...(challenge === undefined ? {} : { 'www-authenticate': challenge }),
      ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfter)) }),
    },
    body: JSON.stringify({ error: code, error_description: message }),
  };
}

/** Declares the refusals of an endpoint with the same status, in the form of RFC 6749 §5.2. */
export function oauthRefusal(description: string, refusals: OAuthRefusals, headers: Headers = {}): DeclaredResponse {
  const codes = Object.keys(refusals) as OAuthErrorCode[];
  const schema = Type.Object({
    error: oneOf(codes, 'The error code.'),
    error_description: text('A description of the error, for people.'),
  });
  const examples = Object.entries(refusals).map(([error, error_description]) => [
    error,
    { value: { error, error_description } },
  ]);
  return {
    description,
    headers: { 'Cache-Control': NotCached, ...headers },
    content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
  };
}
