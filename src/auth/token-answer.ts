import Type, { type Static } from 'typebox';
import { count, shape, text } from '../contract/shapes/fields.ts';
import type { Shown } from '../http/endpoint.ts';
import { accessTokenLifetime } from './access-token.ts';

/** The answer of the token endpoint (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3). */
export const TokenAnswer = shape(
  'Tokens',
  {
    access_token: text('A JWT, for `Authorization: Bearer`.'),
    expires_in: count('Lifetime of the access token, in seconds.'),
    token_type: Type.Literal('Bearer'),
    scope: text('The granted scopes, separated by spaces.'),
    refresh_token: Type.Optional(text('The token for the next refresh, valid once. Only for users.')),
    id_token: Type.Optional(text('Identifies the user (OpenID Connect Core §2). Only for users.')),
  },
  { access_token: 'eyJ…', expires_in: accessTokenLifetime, token_type: 'Bearer', scope: 'openid flagmeter' },
);
export type TokenAnswer = Shown<Static<typeof TokenAnswer>>;

/** The answer with a new access token and the tokens that accompany it. */
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
