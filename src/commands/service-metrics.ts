import type { ServiceMetric } from '../http/exposition-text.ts';
import { backupMetrics } from './backup-metrics.ts';
import { clusterMetrics } from './cluster-metrics.ts';
import type { Core } from './core.ts';
import { ingestMetrics } from './ingest-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { requestMetrics, type Tallies } from './request-metrics.ts';
import { storeMetrics } from './store-metrics.ts';
import { webhookMetrics } from './webhook-metrics.ts';

/** The metrics that `GET /metrics` shows. Labels come from fixed sets: nothing that a stranger sends becomes one. */
export function serviceMetrics(core: Core, tallies: Tallies): readonly ServiceMetric[] {
  return [
    ...requestMetrics(tallies),
    ...ingestMetrics(core),
    ...storeMetrics(core),
    ...webhookMetrics(core),
    ...processMetrics(core),
    ...backupMetrics(core),
    ...clusterMetrics(core),
  ];
}
