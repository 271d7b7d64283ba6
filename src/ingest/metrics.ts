import type { Route } from '../http/types.ts';
import { decodeMetrics } from './report-json-metrics.ts';
import { type ReportRouteParts, reportRoute } from './report-route.ts';

/** `POST /api/metrics`: answers how many entries of `stats` came, once they are on disk. */
export function metricsRoutes(parts: ReportRouteParts): readonly Route[] {
  const route = reportRoute(parts, '/api/metrics', async (json, sender) => {
    const report = decodeMetrics(json);
    await parts.receiver.metrics(report, sender);
    return { count: report.statCount };
  });
  return [route];
}
