import { type GrpcWebDeps, grpcWeb } from '../grpc/web.ts';
import type { Group } from '../http/endpoint.ts';
import { health } from '../http/health.ts';
import { describeHost } from '../http/openapi/describe.ts';
import { documentEndpoint } from '../http/openapi/document-endpoint.ts';
import type { Json } from '../http/openapi/json-schema.ts';
import { identities, securitySchemes } from '../identities/endpoint.ts';
import type { IdentityDeps } from '../identities/identities.ts';
import { reports } from '../reports/endpoints.ts';
import type { ReportRouteDeps } from '../reports/json-intake.ts';
import { telemetry } from '../telemetry/endpoint.ts';
import type { TelemetryDeps } from '../telemetry/telemetry.ts';

/** The endpoints of the metrics host, and its OpenAPI document. */

/** Maximum lengths of a body, inflated. */
interface Limits {
  /** Of a packet. */
  readonly maxBody: number;
  readonly maxReport: number;
}

/** The endpoints of the metrics host. `/healthz` and `/readyz` are beside them on every listener. */
export function metricsHost({ maxBody, maxReport }: Limits): readonly Group<MetricsHostDeps>[] {
  return [telemetry(maxBody), identities(maxBody), reports(maxReport), grpcWeb];
}

export type MetricsHostDeps = TelemetryDeps & IdentityDeps & ReportRouteDeps & GrpcWebDeps;

/** What the document says of this one deployment. */
export interface DocumentSettings extends Limits {
  /** Public URL of the metrics host. */
  readonly server: string;
}

/** The OpenAPI 3.1 document of the metrics host. */
export function describeMetricsHost(settings: DocumentSettings): Json {
  const { server, maxBody, maxReport } = settings;
  const operations = { ...health, endpoints: [...health.endpoints, ...metricsDocument.endpoints] };
  const host = {
    title: 'flagmeter: metrics host',
    summary: 'Takes in what feature flags do in production',
    description: introduction(maxBody, maxReport),
    server,
    securitySchemes,
  };
  return describeHost(host, [...metricsHost(settings), operations]);
}

export const metricsDocument: Group<DocumentSettings> = {
  ...health,
  endpoints: [documentEndpoint('/swagger/v2/swagger.json', describeMetricsHost)],
};

function introduction(maxBody: number, maxReport: number): string {
  return `An answer of 202 or 200 to a packet or report means that it is on disk: neither a crash nor a power cut loses it.
A refused request has changed nothing.

Bodies have ${maxBody} bytes at most, reports ${maxReport}, and may be sent with \`Content-Encoding: gzip\`; the limit is that of the inflated body.
They are UTF-8. Counts are integers from 0 to 2147483647, and numbers are finite. Names are 1 to 256 bytes long without control characters;
\`__proto__\`, \`constructor\` and the like are ordinary names. If an object has a key twice, the last one counts.

429 and 503 carry \`Retry-After\` in seconds. Refusals are \`application/problem+json\` (RFC 9457) with a stable \`code\`.

**Keys.** Frontend and Mobile keys are for browsers and apps and are no secrets. A Backend key is secret: it belongs on
servers, never in a page, an app or a repository. This host takes neither the tokens nor the client credentials of the management API.

**gRPC.** \`Usage.Usage/SendStats\` and \`Metrics.Metrics/SendMetrics\` take the same reports by gRPC on its own listener, and by
gRPC-Web (binary and text) on this host, at \`/Usage.Usage/SendStats\` and \`/Metrics.Metrics/SendMetrics\`. The gRPC listener has server
reflection; this document does not cover it.`;
}
