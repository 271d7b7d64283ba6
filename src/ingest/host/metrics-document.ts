import type { Group, Json } from '../../http/endpoint.ts';
import { health } from '../../http/health.ts';
import { describeHost } from '../../http/openapi/describe.ts';
import { documentEndpoint } from '../../http/openapi/document-endpoint.ts';
import { formats } from '../formats/formats.ts';
import { type Limits, metricsHost } from './metrics-host.ts';

/** Settings of this deployment that the document shows. */
export interface DocumentSettings extends Limits {
  /** Public URL of the metrics host. */
  readonly server: string;
}

/** Returns the OpenAPI 3.1 document of the metrics host. */
export function describeMetricsHost(settings: DocumentSettings): Json {
  const { server } = settings;
  const operations = { ...health, endpoints: [...health.endpoints, ...metricsDocument.endpoints] };
  const host = {
    title: 'flagmeter: metrics host',
    summary: 'Receives the telemetry of feature flags',
    description: introduction(settings),
    server,
    securitySchemes: Object.assign({}, ...formats.map(({ securitySchemes }) => securitySchemes)) as Json,
  };
  return describeHost(host, [...metricsHost(settings), operations]);
}

export const metricsDocument: Group<DocumentSettings> = {
  ...health,
  endpoints: [documentEndpoint('/swagger/v2/swagger.json', describeMetricsHost)],
};

function introduction({ maxBody, maxReport, metricsPathPrefix }: Limits): string {
  return `A 202 or 200 response to a packet or report means that it is on disk: neither a crash nor a power cut loses it.
A refused request changes nothing.

The maximum length is ${maxBody} bytes, and ${maxReport} for reports, after decompression: bodies may be sent with \`Content-Encoding: gzip\`.
Bodies are UTF-8. Counts are integers from 0 to 2147483647, and numbers are finite. Names are 1 to 256 bytes long without control characters;
\`__proto__\`, \`constructor\` and the like are ordinary names. If an object has a key twice, the last value counts.

429 and 503 carry \`Retry-After\` in seconds. Refusals are \`application/problem+json\` (RFC 9457) with a stable \`code\`.

**Keys.** Frontend and Mobile keys are for browsers and apps, and are not secret. A Backend key is secret: it belongs on
servers, never in a page, an app or a repository. This host does not accept tokens or client credentials of the management API.

${formats.flatMap(({ introduction }) => introduction ?? []).join('\n\n')}${metricsPathPrefix === undefined ? '' : prefixText(metricsPathPrefix)}`;
}

function prefixText(prefix: string): string {
  return `

**Path.** Pages can also use the prefix \`${prefix}\`: \`${prefix}/api/frontend/telemetry\` and \`${prefix}/snippet.js\`.`;
}
