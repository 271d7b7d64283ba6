import { setTimeout as pause } from 'node:timers/promises';
import { AuditExport } from '../accounts/audit-export.ts';
import { TokenTotals } from '../auth/oauth/tokens.ts';
import type { ConfiguredProviders } from '../auth/sso/providers.ts';
import { RequestTotals } from '../http/request-totals.ts';
import { startWork } from './background.ts';
import type { BoundListeners } from './bound-listeners.ts';
import type { Config } from './config/config.ts';
import { warnOfUnknownTeams } from './config/provider-file.ts';
import { type Core, closeCore, formatDeps, openCore, type ServiceDeps } from './core.ts';
import { FrontThreads } from './front/front-threads.ts';
import type { LiveSettings } from './front/messages.ts';
import { publicUrls } from './listeners.ts';
import type { Collector } from './otlp/otlp.ts';
import { createRouters } from './routers.ts';
import { ServiceStatus } from './service-status.ts';

export interface Service {
  /** Reports the service as not ready, but continues to serve requests. */
  leave(): void;
  /** Replaces the identity providers that the configuration declares. */
  setProviders(configured: ConfiguredProviders): void;
  /** Changes settings that take effect without a restart. */
  set(live: LiveSettings & Pick<Config, 'apiRate' | 'tokenRate'>): void;
  /** Stops accepting requests, finishes accepted requests, commits their data, and closes everything. */
  stop(graceMs: number): Promise<void>;
}

/** Maximum time to send the last traces, ms. */
const lastTracesMs = 500;

/**
 * Starts the whole service. The accounts are open and the listeners are bound; the service closes them when it stops.
 * @throws {Error} if the usage store cannot be opened; the stores are closed, and the listeners are unchanged
 */
export async function startService(deps: ServiceDeps, bound: BoundListeners): Promise<Service> {
  const { auditExport } = deps.config;
  const audit = auditExport === undefined ? undefined : AuditExport.open(auditExport, deps.log);
  const front = new FrontThreads(deps, bound.shared);
  const core = await openCore({ ...deps, audit, front }).catch(async (error) => {
    audit?.close();
    await front.close();
    throw error;
  });
  const totals = { requests: new RequestTotals(), calls: bound.grpc.totals, tokens: new TokenTotals(core) };
  const status = new ServiceStatus(core, totals.requests);
  totals.tokens.watch(core.accountStore);
  let collector: Collector | undefined;
  try {
    collector = await openCollector(core);
    await front.begin(core, totals.requests);
    const routers = await createRouters(core, bound, totals, status, collector?.traces);
    bound.serve(routers, formatDeps(core));
    if (front.count > 0) bound.handOver(front);
  } catch (error) {
    await front.close();
    await closeCore(core);
    throw error;
  }
  core.deliverer.linkTo(publicUrls(core.config, bound.listeners).api);
  if (collector?.traceDelivery !== undefined) core.deliverer.traceBy(collector.traceDelivery);
  const stopWork = startWork(core, bound.grpc, status);
  const stopPushing = collector?.start();
  return {
    leave() {
      core.shutdown.isNear = true;
      bound.grpc.setServing(false);
    },
    setProviders(configured) {
      core.providers.configure(configured);
      warnOfUnknownTeams(configured, core.directory, core.log);
    },
    set({ logLevel, rate, burst, apiRate, tokenRate }) {
      core.counting.rates.set(rate, burst);
      front.set({ logLevel, rate, burst });
      core.apiRates.set(apiRate, 2 * apiRate);
      core.clientRates.set(tokenRate);
    },
    async stop(graceMs) {
      const worked = stopWork();
      void stopPushing?.();
      await Promise.all([bound.close(graceMs), front.stopListening(graceMs), worked]);
      await front.close();
      if (collector !== undefined) await closeSoon(collector);
      await closeCore(core);
    },
  };
}

async function closeSoon(collector: Collector): Promise<void> {
  const closed = new AbortController();
  const late = pause(lastTracesMs, undefined, { signal: closed.signal }).catch(() => {});
  await Promise.race([collector.close(), late]);
  closed.abort(); // A timer that still runs would delay the exit of the process.
}

/** Opens the collector. Its packages are loaded only if a collector is configured. */
async function openCollector(core: Core): Promise<Collector | undefined> {
  const { otlpEndpoint } = core.config;
  if (otlpEndpoint === undefined) return undefined;
  const { connectCollector } = await import('./otlp/otlp.ts');
  return connectCollector(core, otlpEndpoint);
}
