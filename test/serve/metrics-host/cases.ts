import type { RefusalCode } from '../../../src/contract/refusals.ts';
import { exampleKeys } from '../../../src/ingest/declared.ts';

export const allowedOrigin = 'https://shop.example';

/** A request that gets a documented response from a running service. */
export interface Case {
  /** `POST /path`. */
  readonly operation: string;
  readonly status: number;
  /** `code` of a problem. Its example in the document is the exact response. */
  readonly code?: RefusalCode;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, with the keys of the examples in place of real keys. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Precondition of the case: `limited` if the rate is exceeded, `flooded` if too much data is waiting. */
  readonly while?: 'limited' | 'flooded';
}

type How = Partial<Omit<Case, 'operation' | 'status' | 'code'>>;

const telemetry = 'POST /api/frontend/telemetry';
const usage = 'POST /api/usage/stats';
const metrics = 'POST /api/metrics';
const identities = 'POST /api/frontend/identities';
const document = 'GET /swagger/v2/swagger.json';

const json = { 'content-type': 'application/json' };
const browser = { ...json, origin: allowedOrigin };
const minting = { ...json, authorization: `Bearer ${exampleKeys.Backend}` };
const headersByOperation = new Map<string, Case['headers']>([
  [telemetry, browser],
  [identities, minting],
]);

export const adoptedTokens = {
  Frontend: '*:production.frontend-0123456789',
  Backend: '*:production.backend-0123456789',
} as const;

const unleash = ['/api/client/metrics', '/api/client/metrics/bulk', '/api/client/register'].map(
  (path) => [`POST ${path}`, { ...json, authorization: adoptedTokens.Backend }, exampleKeys.Backend] as const,
);
const unleashPages = ['/api/frontend/client/metrics', '/api/frontend/client/register'].map(
  (path) => [`POST ${path}`, { ...browser, authorization: adoptedTokens.Frontend }, exampleKeys.Frontend] as const,
);

export const cases: readonly Case[] = [
  ...[...unleash, ...unleashPages].flatMap(([operation, headers, key]) => [
    ...anyBody(operation, headers, '{}').filter(({ code }) => code !== 'invalid_content_type'),
    sent(operation, 202, undefined, '{}', { headers }),
    sent(operation, 400, 'invalid_body', '[]', { headers }),
    sent(operation, 404, 'unknown_key', '{}', { headers: { ...headers, authorization: 'nobody' } }),
    sent(operation, 404, 'unknown_environment', '{}', { headers: { ...headers, authorization: key } }),
  ]),
  ...unleashPages.flatMap(([operation, headers]) => [
    sent(operation, 403, 'origin_not_allowed', '{}', { headers: { ...headers, origin: 'https://evil.example' } }),
    { operation: operation.replace('POST', 'OPTIONS'), status: 204, headers: { origin: allowedOrigin } },
  ]),
  ...anyBody(telemetry, browser, packet()),
  sent(telemetry, 202, undefined, packet()),
  sent(telemetry, 400, 'invalid_body', packet({ f: { checkout: { on: [-1] } } })),
  sent(telemetry, 400, 'invalid_name', packet({ e: 'a\n' })),
  sent(telemetry, 404, 'unknown_key', packet({ k: 'nobody' })),
  sent(telemetry, 404, 'unknown_environment', packet({ e: 'Nowhere' })),
  sent(telemetry, 403, 'origin_missing', packet(), { headers: json }),
  sent(telemetry, 403, 'origin_not_allowed', packet(), { headers: { ...json, origin: 'https://evil.example' } }),
  ...[telemetry, usage, metrics].map((operation) => longKey(operation)),
  { operation: 'OPTIONS /api/frontend/telemetry', status: 204, headers: { origin: allowedOrigin } },

  ...[usage, metrics].flatMap((operation) => [
    ...anyBody(operation, json, report()),
    sent(operation, 200, undefined, report()),
    sent(operation, 400, 'invalid_body', report(operation === usage ? { stats: [1] } : { stats: undefined })),
    sent(operation, 400, 'invalid_name', report({ environment: '' })),
    sent(operation, 400, 'invalid_time', report({ time: 'yesterday' })),
    sent(operation, 404, 'unknown_key', report({ appKey: 'nobody' })),
    sent(operation, 404, 'unknown_environment', report({ environment: 'Nowhere' })),
  ]),

  ...anyBody(identities, minting, mint()),
  sent(identities, 200, undefined, mint()),
  sent(identities, 200, undefined, mint(), { headers: { ...json, authorization: exampleKeys.Backend } }),
  sent(identities, 400, 'invalid_identity', mint({ identity: '' })),
  sent(identities, 400, 'invalid_body', mint({ groups: 'beta' })),
  sent(identities, 401, 'unknown_backend_key', mint(), { headers: json }),
  sent(identities, 401, 'unknown_backend_key', mint(), { headers: { ...json, authorization: 'Bearer no' } }),
  sent(identities, 403, 'not_backend_key', mint(), {
    headers: { ...json, authorization: `Bearer ${exampleKeys.Frontend}` },
  }),

  { operation: 'GET /healthz', status: 200, headers: {} },
  { operation: 'GET /readyz', status: 200, headers: {} },
  { operation: 'GET /readyz', status: 503, headers: {}, while: 'flooded' },
  { operation: document, status: 200, headers: {} },
  { operation: document, status: 304, headers: { 'if-none-match': '*' } },
  ...['GET /snippet.js', 'GET /snippet.d.ts'].flatMap((operation) => [
    { operation, status: 200, headers: {} },
    { operation, status: 304, headers: { 'if-none-match': '*' } },
  ]),
];

/** Codes that have no case here, because a case would need a failing disk. The tests in test/faults cover them. */
export const withoutCase: readonly RefusalCode[] = ['store_unavailable'];

/** A telemetry packet. */
export function packet(fields: object = {}): string {
  return JSON.stringify({ k: exampleKeys.Frontend, e: 'Production', ...fields });
}

function report(fields: object = {}): string {
  const head = { appKey: exampleKeys.Backend, environment: 'Production', time: new Date(0).toISOString() };
  return JSON.stringify({ ...head, stats: [], ...fields });
}

function mint(fields: object = {}): string {
  return JSON.stringify({ identity: 'user-7', ...fields });
}

function sent(
  operation: string,
  status: number,
  code: RefusalCode | undefined,
  body: Case['body'],
  how: How = {},
): Case {
  const headers = headersByOperation.get(operation) ?? json;
  return { operation, status, headers, ...(code && { code }), ...(body !== undefined && { body }), ...how };
}

function longKey(operation: string): Case {
  const headers = { ...headersByOperation.get(operation), ...json, 'idempotency-key': 'x'.repeat(256) };
  return { operation, status: 400, code: 'invalid_idempotency_key', headers, body: '{}' };
}

function anyBody(operation: string, headers: Case['headers'], good: string): Case[] {
  const isReport = operation === usage || operation === metrics || operation.startsWith('POST /api/client/');
  const refused = (status: number, code: RefusalCode, more: Case['headers'] = {}, body: Case['body'] = good) =>
    sent(operation, status, code, body, { headers: { ...headers, ...more } });
  return [
    refused(400, 'invalid_content_type', { 'content-type': 'text/html' }),
    refused(400, 'invalid_content_encoding', { 'content-encoding': 'br' }),
    refused(400, 'invalid_encoding', {}, Uint8Array.of(0xff)),
    refused(400, 'invalid_json', {}, '{'),
    refused(413, 'body_too_large', {}, ' '.repeat(isReport ? 4_200_000 : 70_000)),
    { ...refused(429, 'rate_limited'), while: 'limited' },
    { ...refused(503, 'backpressure'), while: 'flooded' },
  ];
}
