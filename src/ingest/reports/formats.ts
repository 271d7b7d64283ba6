import { maxEntries, tooManyEntries } from '../../grpc/entry-limit.ts';
import { decodeText } from '../../http/body.ts';
import { peekerOf } from '../peek.ts';
import type { ClaimedSender } from '../pipeline.ts';
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

export const formats: Readonly<Record<FormatName, ReportFormat<Report>>> = {
  usageJson,
  metricsJson,
  usageMessage,
  metricsMessage,
};

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * Counts the objects and lists of a JSON text before any is built. A few bytes of text can describe empty objects that take
 * `JSON.parse` a hundred times the memory.
 * @throws {ApiError} `body_too_large` if there are more than its size allows
 */
export function checkJsonEntries(text: Uint8Array): void {
  let left = maxEntries('json', text.length);
  if (text.length <= left) return;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at]!;
    if (byte === quote) at = endOfString(text, at);
    else if (byte === openBrace || byte === openBracket) {
      left -= 1;
      if (left < 0) throw tooManyEntries;
    }
  }
}

/** The position of the quote that ends the string starting at `start`. */
function endOfString(text: Uint8Array, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === quote) return at;
    if (text[at] === backslash) at += 1;
  }
  return text.length;
}
