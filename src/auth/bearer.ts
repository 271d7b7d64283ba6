import type { Directory } from '../accounts/directory.ts';
import { Refusal } from '../errors.ts';
import type { Request } from '../http/types.ts';
import { type AccessClaims, InvalidToken, type TokenSettings, verifyAccessToken } from './access-token.ts';

export interface BearerSettings extends TokenSettings {
  readonly directory: Pick<Directory, 'apiKeys' | 'users'>;
  readonly serviceScope: string;
}

/** Gives the claims of a request's access token. @throws {Unauthorized} */
export type Authenticate = (request: Request) => Promise<AccessClaims>;

/** A request without a valid access token. */
export class Unauthorized extends Refusal {
  /** The value of `WWW-Authenticate` (RFC 6750 §3): an error is named only when a token came. */
  readonly challenge: string;

  constructor(presented: boolean) {
    super(
      'unauthorized',
      presented ? 'The access token is not valid' : 'Send Authorization: Bearer <access token>',
    );
    this.challenge = presented ? 'Bearer error="invalid_token"' : 'Bearer';
  }
}

/**
 * Makes the check of `Authorization: Bearer` (RFC 6750 §2.1): a valid access token with the service's scope, of a
 * client or user that still exists.
 */
export function createBearer(settings: BearerSettings): Authenticate {
  return async (request) => {
    const token = /^bearer +([^ ]+) *$/i.exec(request.header('authorization') ?? '')?.[1];
    if (token === undefined) throw new Unauthorized(false);
    const claims = await verify(settings, token);
    const scopes = claims.scope.split(' ');
    if (!scopes.includes(settings.serviceScope) || !subjectExists(settings, claims))
      throw new Unauthorized(true);
    return claims;
  };
}

async function verify(settings: BearerSettings, token: string): Promise<AccessClaims> {
  try {
    return await verifyAccessToken(settings, token);
  } catch (error) {
    throw error instanceof InvalidToken ? new Unauthorized(true) : error;
  }
}

/** A client that acts for itself is its own subject; every other token stands for a user. */
function subjectExists({ directory }: BearerSettings, { sub, client_id }: AccessClaims): boolean {
  return sub === client_id ? directory.apiKeys.has(sub) : directory.users.has(sub);
}
