import type { Group } from '../../http/endpoint.ts';
import { type GrpcWebDeps, grpcWeb } from '../grpc/web.ts';
import { identities } from '../identities/endpoint.ts';
import type { IdentityDeps } from '../identities/identities.ts';
import { otlp } from '../otlp/endpoint.ts';
import type { OtlpDeps } from '../otlp/handler.ts';
import { type ReportRouteDeps, reports } from '../reports/endpoints.ts';
import { telemetry } from '../telemetry/endpoint.ts';
import { type SnippetDeps, snippet } from '../telemetry/snippet.ts';
import type { TelemetryDeps } from '../telemetry/telemetry.ts';
import { unleashClients, unleashPages } from '../unleash/endpoints.ts';
import type { UnleashDeps } from '../unleash/unleash.ts';

export interface Limits {
  /** Maximum length of a packet, inflated. */
  readonly maxBody: number;
  /** Maximum length of a report, inflated. */
  readonly maxReport: number;
  /** Second path of the endpoints that browsers use. */
  readonly metricsPathPrefix?: string;
}

/** The endpoints of the metrics host. `/healthz` and `/readyz` are beside them on every listener. */
export function metricsHost({
  maxBody,
  maxReport,
  metricsPathPrefix,
}: Limits): readonly Group<MetricsHostDeps>[] {
  const forPages: readonly Group<TelemetryDeps & SnippetDeps & UnleashDeps>[] = [
    telemetry(maxBody),
    snippet,
    unleashPages(maxBody),
  ];
  const prefixed =
    metricsPathPrefix === undefined ? [] : forPages.map((group) => under(metricsPathPrefix, group));
  const forServers = [identities(maxBody), reports(maxReport), unleashClients(maxReport), grpcWeb, otlp];
  return [...forPages, ...forServers, ...prefixed];
}

/** The endpoints of packets, which front-end threads answer. */
export function packetRoutes({
  maxBody,
  metricsPathPrefix,
}: Pick<Limits, 'maxBody' | 'metricsPathPrefix'>): readonly Group<TelemetryDeps>[] {
  const packets = telemetry(maxBody);
  return metricsPathPrefix === undefined ? [packets] : [packets, under(metricsPathPrefix, packets)];
}

/** The same endpoints under another path, without operations: the document describes them once. */
function under<Deps>(prefix: string, group: Group<Deps>): Group<Deps> {
  const endpoints = group.endpoints.map(({ operation, ...each }) => ({
    ...each,
    path: `${prefix}${each.path}`,
  }));
  return { ...group, endpoints };
}

export type MetricsHostDeps = TelemetryDeps &
  IdentityDeps &
  ReportRouteDeps &
  GrpcWebDeps &
  OtlpDeps &
  SnippetDeps &
  UnleashDeps;
