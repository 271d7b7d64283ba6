import { routesFrom } from '../http/endpoint.ts';
import { exposition } from '../http/exposition.ts';
import { health } from '../http/health.ts';
import { problem } from '../http/problem.ts';
import { isFromSameMachine } from '../http/proxies/client-address.ts';
import { RequestIds } from '../http/request-ids.ts';
import { createRouter, type RouterHooks } from '../http/router.ts';
import { SlowRequests } from '../http/slow-requests.ts';
import type { RequestTraces } from '../http/traced.ts';
import type { Dispatch, Request, Route } from '../http/types.ts';
import { metricsHost } from '../ingest/host/metrics-host.ts';
import { refusalOf } from '../runtime/failures.ts';
import type { BoundListeners } from './bound-listeners.ts';
import { type Core, debugLog, formatDeps } from './core.ts';
import type { Served } from './listeners.ts';
import { type AllTotals, serviceMetrics } from './metrics.ts';
import { readinessOf } from './readiness.ts';
import type { ServiceStatus } from './service-status.ts';

/** The router of each listener, by the hosts that it serves. */
type Routers = ReadonlyMap<readonly Served[], Dispatch>;

/**
 * Creates the router of each listener. Packets, reports, health and metrics are routed from the start. The first other request, also
 * one to an unknown path, loads the other routes. Their modules are most of the code, and counting needs none of it. Routes need
 * bound listeners, because the issuer may depend on a port.
 */
export async function routersOf(
  core: Core,
  bound: BoundListeners,
  totals: AllTotals,
  status: ServiceStatus,
  traces: RequestTraces | undefined,
): Promise<Routers> {
  const { listeners } = bound;
  const metrics = metricsRoutes(core);
  const hooks = { ...hooksOf(core), totals: totals.requests, ...(traces && { traces }) };
  const operations = operationsOf(core, bound, totals);
  const early = new Map(
    listeners.map(({ hosts }) => [
      hosts,
      [...operations(hosts), ...(hosts.includes('metrics') ? metrics : [])] as const,
    ]),
  );
  let loading: Promise<Routers> | undefined;
  let loaded: Routers | undefined;
  const load = async (): Promise<Routers> => {
    const { routesOf } = await import('./routes.ts');
    const { routes, missing } = routesOf(core, bound, status, totals.tokens);
    loaded = new Map(
      [...early].map(([hosts, before]) => {
        const more = hosts.flatMap((each) => (each === 'ops' ? [] : routes[each]));
        const notFound = hosts.includes('api') ? { notFound: missing } : {};
        return [hosts, createRouter([...before, ...more], { ...hooks, ...notFound })];
      }),
    );
    return loaded;
  };
  // Node reads modules from files, and remembers a failed attempt.
  if (process.versions['bun'] === undefined) await load();
  const failed = (error: unknown) => {
    loading = undefined;
    core.log.error('loading the routes failed', { error });
    return problem(refusalOf(error));
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

/** The routes for operators and their tools, by the hosts of a listener. */
function operationsOf(
  core: Core,
  bound: BoundListeners,
  totals: AllTotals,
): (hosts: readonly Served[]) => readonly Route[] {
  const healthRoutes = routesFrom([health], () => readinessOf(core));
  // The service's metrics are for operators, and the metrics host may be open to everyone.
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

function hooksOf(core: Core): RouterHooks {
  const { log, clock, randomBytes } = core;
  const debug = debugLog(core);
  return {
    ids: new RequestIds(randomBytes),
    failed: (error, about) => log.error('a request failed', { ...about, error }),
    clock,
    slow: new SlowRequests(core.config.slowRequest, log, clock),
    ...(debug && {
      accessLog: { answered: (answered) => debug.debug('request', { ...answered }) },
    }),
  };
}

/** The routes that take packets and reports, and those that senders need. */
export function metricsRoutes(core: Core): readonly Route[] {
  return routesFrom(metricsHost(core.config), formatDeps(core));
}
