import { ApiError } from '../../../contract/errors.ts';
import type { RefusalCode } from '../../../contract/refusals.ts';
import type { Request } from '../../../http/types.ts';
import { type AccessClaims, InvalidToken } from './access-token.ts';
import { createValidation, type ValidationDeps } from './validate-token.ts';

export interface BearerSettings extends ValidationDeps {
  readonly serviceScope: string;
}

/**
 * Reads the claims of a request's access token: at once if the token was verified before, else as a promise, which rejects with
 * `Unauthorized`.
 */
export type Authenticate = (request: Request) => AccessClaims | Promise<AccessClaims>;

const notValid = 'The access token is not valid';
const challenge = 'Bearer error="invalid_token"';
const notSent = 'Send Authorization: Bearer <access token>';

export class Challenged extends ApiError {
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string;

  constructor(code: RefusalCode, detail: string, challenge: string) {
    super(code, detail);
    this.challenge = challenge;
  }
}

/** A request without a valid access token. The challenge names an error only if the request had a token (RFC 6750 §3). */
export class Unauthorized extends Challenged {
  constructor(presented: boolean, detail = presented ? notValid : notSent, description = '') {
    super('unauthorized', detail, presented ? describedChallenge(description) : 'Bearer');
  }
}

function describedChallenge(description: string): string {
  return description === '' ? challenge : `${challenge}, error_description="${description}"`;
}

/**
 * Makes the check of `Authorization: Bearer` (RFC 6750 §2.1). It requires a valid access token with the service's scope, of an
 * existing client or user.
 * @param withoutToken authenticates a request without a token
 */
export function createBearer(
  settings: BearerSettings,
  withoutToken: Authenticate = () => Promise.reject(new Unauthorized(false)),
): Authenticate {
  const { serviceScope } = settings;
  const validate = createValidation(settings);
  const inScope = ({ scope }: AccessClaims) => scope.split(' ').includes(serviceScope);

  async function settle(validated: AccessClaims | Promise<AccessClaims>): Promise<AccessClaims> {
    try {
      const claims = await validated;
      if (inScope(claims)) return claims;
    } catch (error) {
      if (!(error instanceof InvalidToken)) throw error;
      if (error.reason === 'unknown_key') throw new Unauthorized(true, error.message, error.message);
    }
    throw new Unauthorized(true);
  }

  return (request) => {
    const token = bearerToken(request);
    if (token === undefined) return withoutToken(request);
    const claims = validate(token);
    return claims instanceof Promise || !inScope(claims) ? settle(claims) : claims;
  };
}

/** The token in a request's `Authorization: Bearer` header; `undefined` if missing or malformed. */
export function bearerToken(request: Request): string | undefined {
  const value = request.header('authorization') ?? '';
  const [scheme] = /^bearer +/i.exec(value) ?? [];
  if (scheme === undefined) return undefined;
  const token = value.slice(scheme.length).replace(/ +$/, '');
  return token === '' || token.includes(' ') ? undefined : token;
}
