import { routesFrom } from '../http/endpoint.ts';
import type { Route } from '../http/types.ts';
import { type Core, otlpParts } from './core.ts';
import { metricsHost } from './metrics-host.ts';

/** The routes that take packets and reports, and those that senders need. */
export function metricsRoutes(core: Core): readonly Route[] {
  const { config, log, reportKinds, snippet } = core;
  const { metricsOf } = core.directory;
  const { maxBody } = config;
  const onError = (error: unknown) => log.error('a call failed', { error });
  return routesFrom(metricsHost(config), {
    ...otlpParts(core),
    reportKinds,
    metricsOf,
    snippet,
    maxBody,
    onError,
  });
}
