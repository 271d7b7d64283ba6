import type { Route } from '../http/types.ts';
import { decodeUsage } from './report-json-usage.ts';
import { type ReportRouteParts, reportRoute } from './report-route.ts';

/** `POST /api/usage/stats`: answers how many entries of `stats` came, once they are on disk. */
export function usageRoutes(parts: ReportRouteParts): readonly Route[] {
  const route = reportRoute(parts, '/api/usage/stats', async (json, sender) => {
    const report = decodeUsage(json);
    await parts.receiver.usage(report, sender);
    return { featureCount: report.statCount };
  });
  return [route];
}
