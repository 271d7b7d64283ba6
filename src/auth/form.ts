import { Refusal } from '../errors.ts';
import { decodeText, readBody } from '../http/body.ts';
import { percentDecode } from '../http/percent.ts';
import type { Request } from '../http/types.ts';
import { OAuthError } from './oauth-error.ts';

/** More than the longest code, verifier, token and redirect URI together. */
const longestForm = 16_384;

/** The parameters of a form by name. One without a value is not there (RFC 6749 §3.2). */
export type Form = ReadonlyMap<string, string>;

/**
 * Reads the form that a token request is (RFC 6749 §3.2).
 * @throws {OAuthError} `invalid_request`: another content type, broken encoding, a parameter twice, too long
 */
export async function readForm(request: Request): Promise<Form> {
  const [type = ''] = (request.header('content-type') ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded') {
    throw new OAuthError('invalid_request', 'Send the parameters as application/x-www-form-urlencoded');
  }
  try {
    return parseForm(decodeText(await readBody(request, longestForm)));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new OAuthError('invalid_request', error.message, { status: error.status });
  }
}

/** @throws {OAuthError} `invalid_request` */
export function parseForm(text: string): Form {
  const form = new Map<string, string>();
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decodeFormText(pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      throw new OAuthError('invalid_request', 'A parameter is not percent-encoded UTF-8');
    }
    if (value === '') continue;
    if (form.has(name)) throw new OAuthError('invalid_request', 'A parameter is there more than once');
    form.set(name, value);
  }
  return form;
}

/** Undoes the encoding of `application/x-www-form-urlencoded`; `undefined` when it is broken. */
export function decodeFormText(encoded: string): string | undefined {
  return percentDecode(encoded.replaceAll('+', ' '));
}
