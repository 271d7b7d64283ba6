import type { Refusals } from '../http/endpoint.ts';
import { headerNamed, parameterNamed } from '../http/openapi/headers.ts';
import type { Json } from '../http/openapi/json-schema.ts';
import { schemaNamed } from '../http/openapi/named-schemas.ts';
import { refusalResponses } from '../http/openapi/refusals.ts';
import { bodyRefusals } from './body-refusals.ts';
import { exampleKeys } from './headers.ts';

/** `/api/frontend/telemetry`. @param maxBody most bytes of a body */
export function telemetryPath(maxBody: number): Json {
  return {
    post: {
      operationId: 'sendTelemetry',
      tags: ['Telemetry'],
      summary: 'Count what a browser or an app did with features',
      description: words,
      security: [],
      parameters: [origin, fetchSite, parameterNamed('ContentEncoding'), parameterNamed('IdempotencyKey')],
      requestBody: { required: true, content },
      responses: {
        202: { description: 'Counted, and on disk. The body is empty.', headers: cors },
        ...refusalResponses(refusals(maxBody), (status) => (status === 403 ? {} : cors)),
      },
    },
    options: preflight,
  };
}

const words = `Checked in this order: 503, 413, 400, 404, 403, 429. What is refused has changed nothing.

The key is in the body (\`k\`), never in \`Authorization\`, and must be a Frontend or a Mobile key. A Backend key is secret:
one that is seen here is answered 404 and marked as leaked. A Frontend key needs an \`Origin\`, which must be one of the
application's \`allowedOrigins\` when there are any.

Pages of an allowed origin may read every answer but 403, without credentials. \`Retry-After\` is not exposed to them:
wait, and back off exponentially. As \`text/plain\`, or without any \`Content-Type\`, a packet needs no preflight:
\`navigator.sendBeacon\` sends a text or an untyped Blob so.

What cannot be counted takes nothing else with it: an entry whose name can be none is left out, and features, variants and
metrics over the limits of the environment are counted as \`__other__\`. A field that is unknown is passed over. The ledger
says so.`;

const origin = {
  name: 'Origin',
  in: 'header',
  description: 'Sent by every browser. Required with a Frontend key, and from a browser with any key.',
  schema: { type: 'string' },
  example: 'https://shop.example',
};

const fetchSite = {
  name: 'Sec-Fetch-Site',
  in: 'header',
  description: 'Sent by browsers; it shows that a Mobile key without `Origin` comes from one.',
  schema: { type: 'string' },
};

const cors = {
  'Access-Control-Allow-Origin': headerNamed('AllowOrigin'),
  Vary: headerNamed('Vary'),
};

const packets = {
  counts: {
    summary: 'A variant that was checked 3 times, used twice and viewed once, and one that was only checked',
    value: {
      k: exampleKeys.Frontend,
      e: 'Production',
      f: { checkout: { on: [3, 2, 1], off: [12] }, banner: { blue: [1, 0, 1] } },
    },
  },
  metrics: {
    summary: 'A counter and a gauge',
    value: { k: exampleKeys.Frontend, e: 'Production', m: { purchases: 2, 'cart-value': 59.9 } },
  },
  minted: {
    summary: 'Attributed to a minted instance id',
    value: {
      k: exampleKeys.Frontend,
      e: 'Production',
      f: { checkout: { on: [1, 1] } },
      i: exampleKeys.instance,
    },
  },
  mobile: {
    summary: 'From an app, with an identity that the client asserts',
    value: { k: exampleKeys.Mobile, e: 'Production', f: { checkout: { on: [1] } }, u: 'user-7' },
  },
};

const content = {
  'application/json': { schema: schemaNamed('Packet'), examples: packets },
  'text/plain': {
    schema: {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: schemaNamed('Packet'),
    },
    examples: {
      beacon: {
        summary: 'The same JSON as plain text, as `navigator.sendBeacon` sends it',
        value: JSON.stringify(packets.counts.value),
      },
    },
  },
};

function refusals(maxBody: number): Refusals {
  return {
    ...bodyRefusals(maxBody),
    invalid_content_type: 'Send application/json or text/plain, in UTF-8',
    invalid_idempotency_key: 'Send 1 to 255 printable ASCII characters, or leave it out',
    invalid_body: 'The body must have required properties k',
    invalid_name: 'The name of the environment must have 1 to 256 UTF-8 bytes and no control characters',
    invalid_count: 'The value at /f/checkout/on/0 must be >= 0',
    invalid_number: 'The value at /m/purchases must be number',
    unknown_key: 'k is not a Frontend or Mobile key of any application',
    unknown_environment: 'e is not an environment of the application; case matters',
    origin_missing: 'A browser must send its Origin with this key',
    origin_not_allowed: 'The application does not allow this origin',
  };
}

const preflight = {
  operationId: 'preflightTelemetry',
  tags: ['Telemetry'],
  summary: 'Ask, as a browser does, whether a page may post a packet',
  description: 'Any origin may ask: which application it is about is only known from the packet.',
  security: [],
  parameters: [origin],
  responses: {
    204: {
      description: 'A page may post.',
      headers: {
        ...cors,
        'Access-Control-Allow-Methods': fixed('POST, OPTIONS'),
        'Access-Control-Allow-Headers': fixed('content-type, content-encoding'),
        'Access-Control-Max-Age': fixed('7200'),
      },
    },
  },
};

function fixed(value: string): Json {
  return { required: true, schema: { const: value } };
}
