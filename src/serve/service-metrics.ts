import type { ServiceMetric } from '../http/exposition-text.ts';
import { auditMetrics } from './audit-metrics.ts';
import { backupMetrics } from './backup-metrics.ts';
import type { BoundListeners } from './bound-listeners.ts';
import { certificateMetrics } from './certificate-metrics.ts';
import { clusterMetrics } from './cluster-metrics.ts';
import { connectionMetrics } from './connection-metrics.ts';
import type { Core } from './core.ts';
import { ingestMetrics } from './ingest-metrics.ts';
import { journalMetrics } from './journal-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { requestMetrics, type Tallies } from './request-metrics.ts';
import { storeMetrics } from './store-metrics.ts';
import { webhookMetrics } from './webhook-metrics.ts';

/** The metrics that `GET /metrics` shows. Labels come from fixed sets: nothing that a stranger sends becomes one. */
export function serviceMetrics(
  core: Core,
  tallies: Tallies,
  bound: Pick<BoundListeners, 'certificateExpiry' | 'surplusClosed'>,
): readonly ServiceMetric[] {
  return [
    ...requestMetrics(tallies),
    ...ingestMetrics(core),
    ...journalMetrics(core),
    ...storeMetrics(core),
    ...webhookMetrics(core),
    ...processMetrics(core),
    ...connectionMetrics(bound),
    ...certificateMetrics(bound),
    ...backupMetrics(core),
    ...auditMetrics(core),
    ...clusterMetrics(core),
  ];
}
