import { isOneOrigin } from '../accounts/origins.ts';
import { type Refusal, storeUnavailable } from '../contract/errors.ts';
import { notedHeader, omissionCodes } from '../contract/notes.ts';
import type { RpcStatus } from '../grpc/protocol.ts';
import { bodyRefusals } from '../http/body.ts';
import type {
  Endpoint,
  Group,
  Header,
  Headers,
  Json,
  Media,
  Operation,
  Parameter,
  Refusals,
} from '../http/endpoint.ts';
import { tooLarge } from '../http/engines/limits.ts';
import type { Handler, HttpResponse, Request } from '../http/types.ts';
import { longestPath } from './omissions.ts';
import type { Intake, Transport } from './pipeline.ts';

/** A message format. The routes under which the ledger lists it are in `src/contract/message-routes.ts`. */
export interface Format<in Deps = never> {
  /** Endpoints for web pages and mobile apps. They can have a second path: see `--metrics-path-prefix`. */
  readonly pages?: (limits: BodyLimits) => readonly Group<Deps>[];
  readonly servers?: (limits: BodyLimits) => readonly Group<Deps>[];
  readonly calls?: readonly FormatCall<Deps>[];
  readonly securitySchemes?: Readonly<Record<string, Json>>;
  /** Text of the OpenAPI document about the format as a whole. */
  readonly introduction?: string;
}

export interface BodyLimits {
  /** Maximum decompressed length of a packet. */
  readonly maxBody: number;
  /** Maximum decompressed length of a report. */
  readonly maxReport: number;
}

export interface FormatCall<in Deps> {
  readonly service: string;
  /** Path in the form `/Service/Method`. */
  readonly path: string;
  open<Incoming>(deps: Deps, transport: CallTransport<Incoming>): Intake<Incoming, CallResponse>;
}

/** A response message in its gRPC frame, or a refusal. */
export type CallResponse = Buffer | RpcStatus;

/** Transport of gRPC and gRPC-Web calls. The format encodes the responses. */
export interface CallTransport<Incoming> extends Transport<Incoming> {
  getHeaders(incoming: Incoming): Pick<Request, 'header'>;
  isRetry(incoming: Incoming): boolean;
  /** Refuses a call whose deadline has passed. @throws {Refusal} */
  check(incoming: Incoming): void;
  /** Returns the received beginning of the message if `read` was not called or failed. */
  beginning(incoming: Incoming): Uint8Array | undefined;
  refuse(refusal: Refusal): CallResponse;
}

export function createHandler(intake: Intake<Request, HttpResponse>): Handler {
  return (request) => intake.receive(request);
}

export const UserAgent: Parameter = {
  component: 'UserAgent',
  name: 'User-Agent',
  in: 'header',
  description: 'SDK of the sender and its version.',
  schema: { type: 'string' },
};

export const IdempotencyKey: Parameter = {
  component: 'IdempotencyKey',
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Identifies the message. If the same application key sends this header again for the same environment within 10 minutes, the message is accepted but not counted again, even after a restart. Without this header every report counts, with one exception: if its `time` is finer than a millisecond, a second report with the same content is a repetition. Pages cannot send this header across origins.',
  schema: { type: 'string', pattern: '^[ -~]{1,255}$' },
};

/** Response header for an accepted message from which an entry was left out. */
export const Noted: Header = {
  component: 'Noted',
  description:
    'The first entry that was left out: the code of the note in the ledger, and the path of the entry, if the path is known. Names in the path are in ASCII, with other characters as in JSON. A long path is truncated.',
  schema: { type: 'string', pattern: `^(${omissionCodes.join('|')})(; [ -~]{1,${longestPath}})?$` },
};

/** Refusals of every endpoint with a body. @param maxBody maximum length of a body in bytes */
export const intakeRefusals = (maxBody: number) =>
  ({
    ...bodyRefusals,
    body_too_large: tooLarge(maxBody).message,
    rate_limited: 'The sender exceeds its rate limit',
    backpressure: 'Too many messages are waiting for the disk',
    store_unavailable: storeUnavailable.notReady,
  }) as const satisfies Refusals;

/** Lists the examples of a body, or of its responses. */
export function listExamples<E extends { readonly summary: string }>(
  examples: Readonly<Record<string, E>>,
  pick: (example: E) => unknown,
): NonNullable<Media['examples']> {
  const shown = Object.entries(examples).map(([name, example]) => [
    name,
    { summary: example.summary, value: pick(example) },
  ]);
  return Object.fromEntries(shown);
}

/** Example keys and an example id, which no application has. */
export const exampleKeys = {
  Frontend: `fm_fe_${'0'.repeat(40)}`,
  Mobile: `fm_mo_${'0'.repeat(40)}`,
  Backend: `fm_be_${'0'.repeat(40)}`,
  instance: `fm_in_${'0'.repeat(72)}`,
} as const;

/** Returns the sender's name in the ledger. SDKs use `UA`, because their HTTP library often sets `User-Agent`. */
export function readSenderName(request: Request): string | undefined {
  return request.header('ua') ?? request.header('user-agent');
}

/** Pattern of a key, optionally after a scheme. The scheme is case-insensitive (RFC 9110, section 11.1). */
const authorization = /^\s*(?:bearer +)?(\S+)\s*$/i;

export function readKey(request: Pick<Request, 'header'>): string | undefined {
  return authorization.exec(request.header('authorization') ?? '')?.[1];
}

/** Preflight headers. A web page may only post packets, without credentials. */
const preflightHeaders = { 'access-control-allow-methods': 'POST, OPTIONS', 'access-control-max-age': '7200' };

/** Request headers that a page may send with a packet. */
const packetHeaders = 'content-type, content-encoding';

const none: Readonly<Record<string, string>> = {};

/** Returns headers that let a page of `origin` read the response. Empty unless `origin` is exactly one origin. */
export function allowOrigin(origin: string | undefined): Readonly<Record<string, string>> {
  return origin === undefined || !isOneOrigin(origin)
    ? none
    : { 'access-control-allow-origin': origin, vary: 'Origin' };
}

/** Returns the response headers for a message from which an entry was left out. @param omission see `recordNotes` */
export function notedHeaders(origin: string | undefined, omission: string): Readonly<Record<string, string>> {
  const allowed = allowOrigin(origin);
  const exposed = allowed === none ? none : { 'access-control-expose-headers': notedHeader };
  return { ...allowed, ...exposed, [notedHeader]: omission };
}

/**
 * Returns preflight headers. Any origin may send a preflight, because the application is not known yet.
 * @param sent request headers
 */
export function preflight(origin: string | undefined, sent = packetHeaders): Readonly<Record<string, string>> {
  return { ...preflightHeaders, 'access-control-allow-headers': sent, ...allowOrigin(origin) };
}

export const Origin: Parameter = {
  name: 'Origin',
  in: 'header',
  description: 'Sent by every browser. Required with a Frontend key, and from a browser with any key.',
  schema: { type: 'string' },
  example: 'https://shop.example',
};

/** Headers of responses that a page may read. */
export const cors: Headers = {
  'Access-Control-Allow-Origin': {
    component: 'AllowOrigin',
    description: 'The `Origin` of the request, if it is allowed. Absent if the request had no `Origin`.',
    schema: { type: 'string' },
  },
  Vary: {
    component: 'Vary',
    description: '`Origin`, together with `Access-Control-Allow-Origin`.',
    schema: { const: 'Origin' },
  },
};

/** Headers of 202 responses that a page may read. */
export const acceptedHeaders: Headers = {
  ...cors,
  [notedHeader]: Noted,
  'Access-Control-Expose-Headers': {
    description: 'Sent with `Flagmeter-Noted`, so that a page can read it.',
    schema: { const: notedHeader },
  },
};

/** Returns the endpoint that answers preflights of a path. @param sent names of the allowed request headers */
export const preflightEndpoint = (path: string, operationId: string, sent = packetHeaders): Endpoint<unknown> => ({
  method: 'OPTIONS',
  path,
  access: { credential: 'None', who: 'Everybody' },
  operation: preflightOperation(operationId, sent),
  bind: () => (request) => ({ status: 204, headers: preflight(request.header('origin'), sent) }),
});

const preflightOperation = (operationId: string, sent: string): Operation => ({
  operationId,
  summary: 'Preflight of a browser',
  description: 'Allowed for any origin, because only the message names the application.',
  security: [],
  parameters: [Origin],
  responses: {
    204: {
      description: 'The page may send the message.',
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
