import type { Reply } from '../http/types.ts';

/** The error codes of RFC 6749 §5.2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope';

/** No answer of the token endpoint may be kept by a cache (RFC 6749 §5.1). */
export const uncached = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  pragma: 'no-cache',
} as const;

/** A token request that is refused. The description is shown to the client and holds nothing secret. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** The value of `WWW-Authenticate`, where one belongs. */
  readonly challenge: string | undefined;

  constructor(
    code: OAuthErrorCode,
    description: string,
    { status = 400, challenge }: { status?: number; challenge?: string } = {},
  ) {
    super(description);
    this.code = code;
    this.status = status;
    this.challenge = challenge;
  }
}

/** The answer for an error: RFC 6749 §5.2. */
export function oauthErrorReply({ code, message, status, challenge }: OAuthError): Reply {
  return {
    status,
    headers: challenge === undefined ? uncached : { ...uncached, 'www-authenticate': challenge },
    body: JSON.stringify({ error: code, error_description: message }),
  };
}
