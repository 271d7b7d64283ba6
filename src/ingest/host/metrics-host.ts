import type { Group } from '../../http/endpoint.ts';
import { identities } from '../formats/identities/endpoint.ts';
import type { IdentityDeps } from '../formats/identities/identities.ts';
import { otlp } from '../formats/otlp/endpoint.ts';
import type { OtlpDeps } from '../formats/otlp/handler.ts';
import { type ReportRouteDeps, reports } from '../formats/reports/endpoints.ts';
import { telemetry } from '../formats/telemetry/endpoint.ts';
import { type SnippetDeps, snippet } from '../formats/telemetry/snippet.ts';
import type { TelemetryDeps } from '../formats/telemetry/telemetry.ts';
import { unleashClients, unleashPages } from '../formats/unleash/endpoints.ts';
import type { UnleashDeps } from '../formats/unleash/unleash.ts';
import { type GrpcWebDeps, grpcWeb } from '../grpc/web.ts';

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
