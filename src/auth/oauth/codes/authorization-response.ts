import type { Reply } from '../../../http/types.ts';
import type { AuthorizationError, ReturnAddress } from './authorization-request.ts';

/**
 * The answer with a code: RFC 6749 §4.1.2.
 * @param issuer identifies who answers (RFC 9207)
 */
export function codeReply({ redirectUri, state }: ReturnAddress, code: string, issuer: string): Reply {
  return redirect(redirectUri, { code, state, iss: issuer });
}

/** The answer for a refusal: RFC 6749 §4.1.2.1. */
export function errorReply({ code, message, to }: AuthorizationError, issuer: string): Reply {
  const { redirectUri, state } = to;
  return redirect(redirectUri, { error: code, error_description: message, state, iss: issuer });
}

/**
 * Adds parameters to a registered URI, which has no fragment. After a 303 the browser does not post the form again (RFC 9700
 * §4.12).
 */
export function redirect(uri: string, parameters: Readonly<Record<string, string | null>>): Reply {
  const sent = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== null);
  const location = `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(sent)}`;
  return {
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  };
}
