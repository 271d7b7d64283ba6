import { accessTokenLifetime } from './access-token.ts';

/** The answer of the token endpoint (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3). */
export interface TokenAnswer {
  readonly access_token: string;
  /** Seconds. */
  readonly expires_in: number;
  readonly token_type: 'Bearer';
  readonly scope: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
}

/** The answer for an access token just issued, and what comes beside it. */
export function tokenAnswer(
  accessToken: string,
  scope: string,
  beside: Pick<TokenAnswer, 'refresh_token' | 'id_token'> = {},
): TokenAnswer {
  return {
    access_token: accessToken,
    expires_in: accessTokenLifetime,
    token_type: 'Bearer',
    scope,
    ...beside,
  };
}
