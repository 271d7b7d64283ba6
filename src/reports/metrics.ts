import { decodeText } from '../http/body.ts';
import { glimpseJson } from './json.ts';
import { decodeMetrics } from './json-metrics.ts';
import type { MetricsReport } from './report.ts';
import type { ReportFormat } from './take.ts';

export const metricsJson: ReportFormat<MetricsReport> = {
  route: 'metrics',
  decode: (body) => decodeMetrics(decodeText(body)),
  glimpse: glimpseJson,
  handOver: (receiver, ...report) => receiver.metrics(...report),
};
