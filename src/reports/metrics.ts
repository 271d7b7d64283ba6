import { decodeText } from '../http/body.ts';
import type { Route } from '../http/types.ts';
import { glimpseJson } from './json.ts';
import { decodeMetrics } from './json-metrics.ts';
import type { MetricsReport } from './report.ts';
import { type ReportRouteDeps, reportRoute } from './route.ts';
import type { ReportFormat } from './take.ts';

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
