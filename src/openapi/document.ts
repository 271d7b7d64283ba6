import { version } from '../../package.json' with { type: 'json' };
import { documentPath } from '../http/openapi/document-route.ts';
import { type Json, jsonSchema } from '../http/openapi/json-schema.ts';
import { namedSchemas } from '../http/openapi/named-schemas.ts';
import { Problem } from '../http/openapi/refusals.ts';
import { MintSchema } from '../identities/identities.ts';
import { senderSchemas } from '../ingest/sender-schemas.ts';
import { MetricsReportSchema } from '../reports/json-metrics.ts';
import { UsageReportSchema } from '../reports/json-usage.ts';
import { PacketSchema } from '../telemetry/packet.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import { identitiesPath, Minted, securitySchemes } from './identities.ts';
import { healthPath, readyPath } from './operations.ts';
import { metricsPath, usagePath } from './reports.ts';
import { telemetryPath } from './telemetry.ts';

/** What the document says of this one deployment. */
export interface DocumentSettings {
  /** Public URL of the metrics host. */
  readonly server: string;
  /** Most bytes of a packet's body and of a report's, inflated. */
  readonly maxBody: number;
  readonly maxReport: number;
}

/** The OpenAPI 3.1 document of the metrics host, with the schemas that its routes check with. */
export function describeMetricsHost({ server, maxBody, maxReport }: DocumentSettings): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'flagmeter: metrics host',
      version,
      summary: 'Takes in what feature flags do in production',
      description: words(maxBody, maxReport),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    tags: [
      { name: 'Telemetry', description: 'Packets of browsers and apps.' },
      { name: 'Identities', description: 'Instance ids, which servers mint for their users.' },
      { name: 'Reports', description: 'Usage and metrics of servers.' },
      { name: 'Operations', description: 'The service itself.' },
    ],
    paths: {
      '/api/frontend/telemetry': telemetryPath(maxBody),
      '/api/frontend/identities': identitiesPath(maxBody),
      '/api/usage/stats': usagePath(maxReport),
      '/api/metrics': metricsPath(maxReport),
      '/healthz': healthPath,
      '/readyz': readyPath,
      '/swagger/v2/swagger.json': documentPath('Operations'),
    },
    components: {
      schemas: {
        Packet: jsonSchema(PacketSchema),
        Mint: jsonSchema(MintSchema),
        Minted,
        UsageReport: jsonSchema(UsageReportSchema),
        MetricsReport: jsonSchema(MetricsReportSchema),
        Problem,
        ...namedSchemas,
        ...senderSchemas,
      },
      parameters: requestHeaders,
      headers: responseHeaders,
      securitySchemes,
    },
  };
}

function words(maxBody: number, maxReport: number): string {
  return `An answer of 202 or 200 to a packet or report means that it is on disk: neither a crash nor a power cut loses it.
What is refused has changed nothing.

Bodies have ${maxBody} bytes at most, reports ${maxReport}, and may be sent with \`Content-Encoding: gzip\`; the limit is that of the inflated body.
They are UTF-8. Counts are integers from 0 to 2147483647, and numbers are finite. Names are 1 to 256 bytes long without control characters;
\`__proto__\`, \`constructor\` and the like are ordinary names. Of a key that an object has twice, the last one counts.

429 and 503 carry \`Retry-After\` in seconds. Refusals are \`application/problem+json\` (RFC 9457) with a stable \`code\`.

**Keys.** Frontend and Mobile keys are for browsers and apps and are no secrets. A Backend key is secret: it belongs on
servers, never in a page, an app or a repository. This host takes neither the tokens nor the client credentials of the management API.

**gRPC.** \`Usage.Usage/SendStats\` and \`Metrics.Metrics/SendMetrics\` take the same reports by gRPC on its own listener, and by
gRPC-Web (binary and text) on this host, at \`/Usage.Usage/SendStats\` and \`/Metrics.Metrics/SendMetrics\`. The gRPC listener has server
reflection; this document does not cover it.`;
}
