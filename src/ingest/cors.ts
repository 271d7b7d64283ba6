import { isOneOrigin } from '../accounts/origins.ts';
import { notedHeader } from '../contract/notes.ts';
import type { Endpoint, Header, Headers, Operation, Parameter } from '../http/endpoint.ts';
import { Noted } from './declared.ts';

/** A page may only post packets: no credentials. It can read one header besides those that every page can: see `notedHeaders`. */
const preflightHeaders = {
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-max-age': '7200',
};

/** The request headers that a page may send with a packet. */
const packetHeaders = 'content-type, content-encoding';

const none: Readonly<Record<string, string>> = {};

/** Headers that allow a page of `origin` to read the answer. None without an origin, or with several. */
export function allowOrigin(origin: string | undefined): Readonly<Record<string, string>> {
  return origin === undefined || !isOneOrigin(origin)
    ? none
    : { 'access-control-allow-origin': origin, vary: 'Origin' };
}

/** The same for an accepted message of which an entry was left out. @param omission see `recordNotes` */
export function notedHeaders(origin: string | undefined, omission: string): Readonly<Record<string, string>> {
  const allowed = allowOrigin(origin);
  const exposed = allowed === none ? none : { 'access-control-expose-headers': notedHeader };
  return { ...allowed, ...exposed, [notedHeader]: omission };
}

/** Headers of a preflight's answer. The application is not known yet, so any origin is allowed. @param sent names of request headers */
export function preflight(
  origin: string | undefined,
  sent = packetHeaders,
): Readonly<Record<string, string>> {
  return { ...preflightHeaders, 'access-control-allow-headers': sent, ...allowOrigin(origin) };
}

export const Origin: Parameter = {
  name: 'Origin',
  in: 'header',
  description: 'Sent by every browser. Required with a Frontend key, and from a browser with any key.',
  schema: { type: 'string' },
  example: 'https://shop.example',
};

/** Headers of answers that a page may read. */
export const cors: Headers = {
  'Access-Control-Allow-Origin': {
    component: 'AllowOrigin',
    description: 'The `Origin` of the request, if it is allowed. Absent if the request had none.',
    schema: { type: 'string' },
  },
  Vary: {
    component: 'Vary',
    description: '`Origin`, beside `Access-Control-Allow-Origin`.',
    schema: { const: 'Origin' },
  },
};

/** Headers of a 202 that a page may read. */
export const acceptedHeaders: Headers = {
  ...cors,
  [notedHeader]: Noted,
  'Access-Control-Expose-Headers': {
    description: 'Sent with `Flagmeter-Noted`, so that a page can read it.',
    schema: { const: notedHeader },
  },
};

/** The endpoint of preflights. @param sent names of the allowed request headers */
export const preflightEndpoint = (
  path: string,
  operationId: string,
  sent = packetHeaders,
): Endpoint<unknown> => ({
  method: 'OPTIONS',
  path,
  access: { credential: 'None', who: 'Everybody' },
  operation: preflightOperation(operationId, sent),
  bind: () => (request) => ({ status: 204, headers: preflight(request.header('origin'), sent) }),
});

const preflightOperation = (operationId: string, sent: string): Operation => ({
  operationId,
  summary: 'Preflight of a browser',
  description: 'Any origin may ask, because only the message names the application.',
  security: [],
  parameters: [Origin],
  answers: {
    204: {
      description: 'A page may post.',
      headers: {
        ...cors,
        'Access-Control-Allow-Methods': fixed('POST, OPTIONS'),
        'Access-Control-Allow-Headers': fixed(sent),
        'Access-Control-Max-Age': fixed('7200'),
      },
    },
  },
});

function fixed(value: string): Header {
  return { required: true, schema: { const: value } };
}
