import { decodeFormText } from '../http/form-text.ts';
import type { Form } from './form.ts';
import { OAuthError } from './oauth-error.ts';

export interface ClaimedClient {
  readonly id: string;
  readonly secret: string;
  /** Whether they came in the `Authorization` header, which determines the form of a refusal. */
  readonly byHeader: boolean;
}

/**
 * Reads a client's id and secret from the `Authorization: Basic` header or from the form (RFC 6749 §2.3.1).
 * @throws {OAuthError} `invalid_request` if both are used, `invalid_client` if neither is complete
 */
export function readClient(authorization: string | undefined, form: Form): ClaimedClient {
  const id = form.get('client_id');
  const secret = form.get('client_secret');
  if (authorization === undefined) {
    if (id === undefined || secret === undefined) throw invalidClient(false);
    return { id, secret, byHeader: false };
  }
  if (secret !== undefined) {
    throw new OAuthError(
      'invalid_request',
      'Authenticate with the Authorization header or the form, not both',
    );
  }
  const client = parseBasic(authorization);
  if (!client) throw invalidClient(true);
  if (id !== undefined && id !== client.id) {
    throw new OAuthError('invalid_request', 'client_id differs from the one in the Authorization header');
  }
  return { ...client, byHeader: true };
}

/** The id that a client claims, not verified; empty if missing. Never throws. */
export function claimedId(authorization: string | undefined, form: Form): string {
  const id = authorization === undefined ? undefined : parseBasic(authorization)?.id;
  return id ?? form.get('client_id') ?? '';
}

export const unknownClient = 'The client is unknown or its secret is wrong';

/** RFC 6749 §5.2 requires the challenge. It names the error, too, because some clients do not read the body. */
const basicChallenge = `Basic realm="flagmeter", charset="UTF-8", error="invalid_client", error_description="${unknownClient}"`;

/** The refusal of a client, the same for an unknown client and a wrong secret. */
export function invalidClient(byHeader: boolean): OAuthError {
  const challenge = byHeader ? basicChallenge : undefined;
  return new OAuthError('invalid_client', unknownClient, { status: 401, challenge });
}

/** RFC 7617 §2, with id and secret form-encoded as RFC 6749 §2.3.1 requires. */
function parseBasic(authorization: string): { id: string; secret: string } | undefined {
  const encoded = /^basic +([a-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const id = decodeFormText(text.slice(0, colon));
  const secret = decodeFormText(text.slice(colon + 1));
  return id && secret ? { id, secret } : undefined;
}
