import type { Group } from '../../http/endpoint.ts';
import type { BodyLimits } from '../declared.ts';
import { type FormatDeps, formats } from '../formats/formats.ts';
import { packetEndpoints } from '../formats/telemetry/format.ts';
import type { TelemetryDeps } from '../formats/telemetry/telemetry.ts';

export interface Limits extends BodyLimits {
  /** Second path of the endpoints that browsers use. */
  readonly metricsPathPrefix?: string;
}

/** Returns the endpoints of the metrics host. Every listener has `/healthz` and `/readyz`, too. */
export function metricsHost(limits: Limits): readonly Group<FormatDeps>[] {
  const { metricsPathPrefix } = limits;
  const forPages = formats.flatMap(({ pages }) => pages?.(limits) ?? []);
  const forServers = formats.flatMap(({ servers }) => servers?.(limits) ?? []);
  const prefixed = metricsPathPrefix === undefined ? [] : forPages.map((group) => under(metricsPathPrefix, group));
  return [...forPages, ...forServers, ...prefixed];
}

export function packetRoutes({
  maxBody,
  metricsPathPrefix,
}: Pick<Limits, 'maxBody' | 'metricsPathPrefix'>): readonly Group<TelemetryDeps>[] {
  const packets = packetEndpoints(maxBody);
  return metricsPathPrefix === undefined ? [packets] : [packets, under(metricsPathPrefix, packets)];
}

/**
 * Returns the same endpoints under another path. They have no operations, so that the OpenAPI document lists each
 * endpoint once.
 */
function under<Deps>(prefix: string, group: Group<Deps>): Group<Deps> {
  const endpoints = group.endpoints.map(({ operation, ...each }) => ({ ...each, path: `${prefix}${each.path}` }));
  return { ...group, endpoints };
}
