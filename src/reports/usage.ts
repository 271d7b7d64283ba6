import { decodeText } from '../http/body.ts';
import { glimpseJson } from './json.ts';
import { decodeUsage } from './json-usage.ts';
import type { UsageReport } from './report.ts';
import type { ReportFormat } from './take.ts';

export const usageJson: ReportFormat<UsageReport> = {
  route: 'usage',
  decode: (body) => decodeUsage(decodeText(body)),
  glimpse: glimpseJson,
  handOver: (receiver, ...report) => receiver.usage(...report),
};
