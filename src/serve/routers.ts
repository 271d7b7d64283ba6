import { isFromSameMachine } from '../http/client-address.ts';
import { routesFrom } from '../http/endpoint.ts';
import { exposition } from '../http/exposition.ts';
import { health } from '../http/health.ts';
import { problem } from '../http/responses.ts';
import { createRouter, loggingHooks, type RequestTraces } from '../http/router.ts';
import type { Dispatch, Request, Route } from '../http/types.ts';
import { metricsHost } from '../ingest/host/metrics-host.ts';
import { toRefusal } from '../runtime/failures.ts';
import type { BoundListeners } from './bound-listeners.ts';
import { type Core, formatDeps } from './core.ts';
import type { ServedHost } from './listeners.ts';
import { type AllTotals, serviceMetrics } from './metrics.ts';
import { checkReadiness, type ServiceStatus } from './service-status.ts';

type Routers = ReadonlyMap<readonly ServedHost[], Dispatch>;

/**
 * Creates the router of each listener for its hosts. Packets, reports, health and metrics are routed immediately. Other
 * routes are most of the code, and are loaded by the first request to any other path. Call this when the listeners are
 * bound, because the issuer can contain a port.
 */
export async function createRouters(
  core: Core,
  bound: BoundListeners,
  totals: AllTotals,
  status: ServiceStatus,
  traces: RequestTraces | undefined,
): Promise<Routers> {
  const { listeners } = bound;
  const metrics = metricsRoutes(core);
  const hooks = { ...loggingHooks(core.config, core), totals: totals.requests, ...(traces && { traces }) };
  const operations = createOperationsRoutes(core, bound, totals);
  const early = new Map(
    listeners.map(({ hosts }) => [
      hosts,
      [...operations(hosts), ...(hosts.includes('metrics') ? metrics : [])] as const,
    ]),
  );
  let loading: Promise<Routers> | undefined;
  let loaded: Routers | undefined;
  const load = async (): Promise<Routers> => {
    const { createRoutes } = await import('./routes.ts');
    const { routes, missing } = createRoutes(core, bound, status, totals.tokens);
    loaded = new Map(
      [...early].map(([hosts, before]) => {
        const more = hosts.flatMap((each) => (each === 'ops' ? [] : routes[each]));
        const notFound = hosts.includes('api') ? { notFound: missing } : {};
        return [hosts, createRouter([...before, ...more], { ...hooks, ...notFound })];
      }),
    );
    return loaded;
  };
  // Node.js does not retry a failed import of a module, so all routes are loaded now.
  if (process.versions['bun'] === undefined) await load();
  const failed = (error: unknown) => {
    loading = undefined;
    core.log.error('loading the routes failed', { error });
    return problem(toRefusal(error));
  };
  return new Map(
    [...early].map(([hosts, routes]) => {
      const paths = new Set(routes.map(({ path }) => path));
      const dispatch = createRouter(routes, hooks);
      return [
        hosts,
        (request) => {
          if (loaded !== undefined) return loaded.get(hosts)!(request);
          if (paths.has(request.path)) return dispatch(request);
          loading ??= load();
          return loading.then((all) => all.get(hosts)!(request), failed);
        },
      ];
    }),
  );
}

function createOperationsRoutes(
  core: Core,
  bound: BoundListeners,
  totals: AllTotals,
): (hosts: readonly ServedHost[]) => readonly Route[] {
  const healthRoutes = routesFrom([health], () => checkReadiness(core));
  // Only operators can read the service's metrics. The metrics host can be open to everyone, so it does not serve them.
  const host = core.config.opsListen === undefined ? 'api' : 'ops';
  const exposed = {
    metrics: serviceMetrics(core, totals, bound),
    clock: core.clock,
    settle: () => core.front.settle(),
    mayRead: (request: Request) => host === 'ops' || isFromSameMachine(request, bound.trusted),
  };
  const forOperators = [...healthRoutes, ...routesFrom([exposition], exposed)];
  return (hosts) => (hosts.includes(host) ? forOperators : healthRoutes);
}

/** The routes that take packets and reports. */
export function metricsRoutes(core: Core): readonly Route[] {
  return routesFrom(metricsHost(core.config), formatDeps(core));
}
