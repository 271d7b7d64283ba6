import { isOneOrigin } from '../accounts/origins.ts';

/** A page may only post packets: no credentials. It can read one header besides those that every page can: see `exposing`. */
const preflightHeaders = {
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-max-age': '7200',
};

/** The request headers that a page may send with a packet. */
export const packetHeaders = 'content-type, content-encoding';

const none: Readonly<Record<string, string>> = {};

/** Headers that allow a page of `origin` to read the answer. None without an origin, or with several. */
export function allowOrigin(origin: string | undefined): Readonly<Record<string, string>> {
  return origin === undefined || !isOneOrigin(origin)
    ? none
    : { 'access-control-allow-origin': origin, vary: 'Origin' };
}

/** Headers that allow a page of `origin` to read the answer and its header `name`. */
export function exposing(origin: string | undefined, name: string): Readonly<Record<string, string>> {
  const allowed = allowOrigin(origin);
  return allowed === none ? none : { ...allowed, 'access-control-expose-headers': name };
}

/** Headers of a preflight's answer. The application is not known yet, so any origin is allowed. @param sent names of request headers */
export function preflight(
  origin: string | undefined,
  sent = packetHeaders,
): Readonly<Record<string, string>> {
  return { ...preflightHeaders, 'access-control-allow-headers': sent, ...allowOrigin(origin) };
}
