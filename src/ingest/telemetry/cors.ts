import { isOneOrigin } from '../../accounts/origins.ts';

/** A page may post packets, and nothing else: no credentials, no exposed headers. */
const preflightHeaders = {
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': 'content-type, content-encoding',
  'access-control-max-age': '7200',
};

const none: Readonly<Record<string, string>> = {};

/** The headers that let a page of `origin` read the answer. There are none without an origin, or with several. */
export function allowOrigin(origin: string | undefined): Readonly<Record<string, string>> {
  return origin === undefined || !isOneOrigin(origin)
    ? none
    : { 'access-control-allow-origin': origin, vary: 'Origin' };
}

/** The headers of a preflight's answer. The application is not known yet, so any origin is allowed to ask. */
export function preflight(origin: string | undefined): Readonly<Record<string, string>> {
  return { ...preflightHeaders, ...allowOrigin(origin) };
}
