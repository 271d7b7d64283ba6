import Type from 'typebox';
import { text } from '../../../contract/shapes/fields.ts';
import type { ClientEndpointDeps } from '../clients/client-endpoint.ts';
import type { SessionDeps } from '../sessions/sessions.ts';
import type { ValidateToken } from '../tokens/validate-token.ts';

/** The dependencies of the endpoints to which clients send a token. */
export type TokenDeps = ClientEndpointDeps & SessionDeps & { readonly validate: ValidateToken };

/** The fields of a form with a token (RFC 7009 §2.1, RFC 7662 §2.1). */
export const tokenFields = {
  token: text('An access token or a refresh token.'),
  token_type_hint: Type.Optional(text('Ignored: the type is recognised from the token.')),
};
