import { ContentEncoding, type Group, type Operation, type Parameter, type Refusals } from '../../../http/endpoint.ts';
import {
  acceptedHeaders,
  cors,
  createHandler,
  exampleKeys,
  type Format,
  IdempotencyKey,
  intakeRefusals,
  Origin,
  preflightEndpoint,
} from '../../declared.ts';
import { Pipeline } from '../../pipeline.ts';
import { PacketSchema } from './packet.ts';
import { type SnippetDeps, snippet } from './snippet.ts';
import { packetHandler, senderRefusals, type TelemetryDeps } from './telemetry.ts';

export const telemetryPath = '/api/frontend/telemetry';

/** Declares `/api/frontend/telemetry` and its preflight. @param maxBody maximum decompressed bytes of a packet */
export const packetEndpoints = (maxBody: number): Group<TelemetryDeps> => ({
  tag: 'Telemetry',
  description: 'Packets from browsers and apps.',
  endpoints: [
    {
      method: 'POST',
      path: telemetryPath,
      access: {
        credential: 'Frontend or Mobile key in the body',
        who: 'Pages of the allowed origins; with a Mobile key, apps without an `Origin`',
      },
      operation: sendTelemetry(maxBody),
      bind: (deps) => createHandler(new Pipeline(deps, packetHandler(deps))),
    },
    preflightEndpoint(telemetryPath, 'preflightTelemetry'),
  ],
});

export const telemetry: Format<TelemetryDeps & SnippetDeps> = {
  pages: ({ maxBody }) => [packetEndpoints(maxBody), snippet],
};

const description = `Checked in this order: 503, 413, 400, 404, 403, 429. A refused packet changes nothing.

The key is in the body (\`k\`), never in \`Authorization\`, and must be a Frontend or a Mobile key. A Backend key is secret.
If a Backend key is sent here, the response is 404 and the key is marked as leaked. A Frontend key needs an \`Origin\`. If the
application has \`allowedOrigins\`, the \`Origin\` must be one of these.

Pages of an allowed origin may read every response but 403, without credentials. They cannot read \`Retry-After\`: wait, and
back off exponentially. As \`text/plain\`, or without any \`Content-Type\`, a packet needs no preflight: \`navigator.sendBeacon\`
sends a text or an untyped Blob this way.

A value of a wrong type is refused with 400, and so is a negative or fractional count. The detail names the path of the first such value.
A value that a correct program can produce does not affect the rest: an entry with an invalid name, a variant with a too large
count, and a metric that is \`null\` or not finite are left out. Unknown fields are ignored. \`Flagmeter-Noted\` names the first of these, and
the ledger notes them. \`null\` and \`[]\` count as absent. Features, variants and metrics over the limits of the environment are
counted as \`__other__\`.`;

const SecFetchSite: Parameter = {
  name: 'Sec-Fetch-Site',
  in: 'header',
  description: 'Sent by browsers. The header reveals a browser that uses a Mobile key without `Origin`.',
  schema: { type: 'string' },
};

const packets = {
  counts: {
    summary: 'A variant checked 3 times, used twice and viewed once, and a variant only checked',
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
    value: { k: exampleKeys.Frontend, e: 'Production', f: { checkout: { on: [1, 1] } }, i: exampleKeys.instance },
  },
  mobile: {
    summary: 'From an app, with an identity asserted by the client',
    value: { k: exampleKeys.Mobile, e: 'Production', f: { checkout: { on: [1] } }, u: 'user-7' },
  },
};

const beacon = {
  summary: 'The same JSON as plain text, as sent by `navigator.sendBeacon`',
  value: JSON.stringify(packets.counts.value),
};

const sendTelemetry = (maxBody: number): Operation => ({
  operationId: 'sendTelemetry',
  summary: 'Report feature usage of a browser or an app',
  description,
  security: [],
  parameters: [Origin, SecFetchSite, ContentEncoding, IdempotencyKey],
  body: {
    'application/json': { schema: PacketSchema, examples: packets },
    'text/plain': {
      schema: { type: 'string', contentMediaType: 'application/json', contentSchema: PacketSchema },
      examples: { beacon },
    },
  },
  responses: {
    202: { description: 'The packet is counted and on disk. The body is empty.', headers: acceptedHeaders },
  },
  refuses: refuses(maxBody),
  refusalHeaders: (status) => (status === 403 ? {} : cors),
});

const refuses = (maxBody: number): Refusals => ({
  ...intakeRefusals(maxBody),
  invalid_content_type: 'Send application/json or text/plain, in UTF-8',
  invalid_idempotency_key: 'Idempotency-Key must have 1 to 255 printable ASCII characters',
  invalid_body: 'f.checkout.on[0] must be a whole number from 0',
  invalid_name: 'The name of the environment must have 1 to 256 UTF-8 bytes and no control characters',
  ...senderRefusals,
});
