import { isOneOrigin } from '../../accounts/origins.ts';

/** A page may only post packets: no credentials, no exposed headers. */
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

/** Headers of a preflight's answer. The application is not known yet, so any origin is allowed. @param sent names of request headers */
export function preflight(
  origin: string | undefined,
  sent = packetHeaders,
): Readonly<Record<string, string>> {
  return { ...preflightHeaders, 'access-control-allow-headers': sent, ...allowOrigin(origin) };
}
