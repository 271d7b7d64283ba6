import { decodeText } from '../http/body.ts';
import type { Route } from '../http/types.ts';
import type { MetricsReport } from './report.ts';
import { glimpseJson } from './report-json.ts';
import { decodeMetrics } from './report-json-metrics.ts';
import { type ReportRouteDeps, reportRoute } from './report-route.ts';
import type { ReportFormat } from './take-report.ts';

const metricsJson: ReportFormat<MetricsReport> = {
  route: 'metrics',
  decode: (body) => decodeMetrics(decodeText(body)),
  glimpse: glimpseJson,
  handOver: (receiver, ...report) => receiver.metrics(...report),
};

/** `POST /api/metrics`: answers how many entries of `stats` came, once they are on disk. */
export function metricsRoutes(parts: ReportRouteDeps): readonly Route[] {
  return [reportRoute(parts, '/api/metrics', metricsJson, (count) => ({ count }))];
}
