import { decodeText } from '../../../http/body.ts';
import { checkJsonEntries } from '../../json-entries.ts';
import { peekerOf } from '../../peek.ts';
import type { ClaimedSender } from '../../pipeline.ts';
import { decodeMetrics } from './json-metrics.ts';
import { decodeUsage } from './json-usage.ts';
import { decodeMetricsReport, decodeUsageReport, peekMessage } from './proto.ts';
import type { MetricsReport, Report, UsageReport } from './report.ts';

export interface ReportFormat<R extends Report> {
  readonly name: FormatName;
  /** @throws {ApiError} of status 400 or 413 with the error */
  decode(body: Uint8Array): R;
  /** Reads the sender from the beginning of a report, even if the report cannot be decoded. */
  peek(beginning: Uint8Array): ClaimedSender;
}

export type FormatName = 'usageJson' | 'metricsJson' | 'usageMessage' | 'metricsMessage';

const peek = peekerOf('appKey', 'environment', 'instanceName');

function jsonText(body: Uint8Array): string {
  checkJsonEntries(body);
  return decodeText(body);
}

export const usageJson: ReportFormat<UsageReport> = {
  name: 'usageJson',
  decode: (body) => decodeUsage(jsonText(body)),
  peek,
};

export const metricsJson: ReportFormat<MetricsReport> = {
  name: 'metricsJson',
  decode: (body) => decodeMetrics(jsonText(body)),
  peek,
};

export const usageMessage: ReportFormat<UsageReport> = {
  name: 'usageMessage',
  decode: decodeUsageReport,
  peek: (beginning) => peekMessage(beginning, 6),
};

export const metricsMessage: ReportFormat<MetricsReport> = {
  name: 'metricsMessage',
  decode: decodeMetricsReport,
  peek: (beginning) => peekMessage(beginning, 7),
};
