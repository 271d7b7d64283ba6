import { decodeText } from '../http/body.ts';
import type { Route } from '../http/types.ts';
import { glimpseJson } from './json.ts';
import { decodeUsage } from './json-usage.ts';
import type { UsageReport } from './report.ts';
import { type ReportRouteDeps, reportRoute } from './route.ts';
import type { ReportFormat } from './take.ts';

const usageJson: ReportFormat<UsageReport> = {
  route: 'usage',
  decode: (body) => decodeUsage(decodeText(body)),
  glimpse: glimpseJson,
  handOver: (receiver, ...report) => receiver.usage(...report),
};

/** `POST /api/usage/stats`: answers how many entries of `stats` came, once they are on disk. */
export function usageRoutes(parts: ReportRouteDeps): readonly Route[] {
  return [reportRoute(parts, '/api/usage/stats', usageJson, (featureCount) => ({ featureCount }))];
}
