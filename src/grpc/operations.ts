import { glimpseMessage } from '../reports/proto.ts';
import { decodeMetricsReport } from '../reports/proto-metrics.ts';
import { decodeUsageReport } from '../reports/proto-usage.ts';
import type {
  MetricsReport,
  ReportGlimpse,
  ReportReceiver,
  ReportRoute,
  UsageReport,
} from '../reports/report.ts';
import { type Arrival, type ReportFormat, takeReport } from '../reports/take.ts';
import { messageFrame } from './frames.ts';
import { numberField } from './proto-writer.ts';

/** An operation that takes a report. */
export interface Operation {
  /** Full name of the service. */
  readonly service: string;
  readonly method: string;
  readonly route: ReportRoute;
  /**
   * Resolves with the answer in its frame when the report is on disk.
   * @throws {ApiError} nothing has changed then
   */
  run(receiver: ReportReceiver, arrival: Arrival): Promise<Buffer>;
  /** The sender of a message, read from its beginning. */
  glimpse(beginning: Uint8Array): ReportGlimpse;
}

const usageMessages: ReportFormat<UsageReport> = {
  route: 'usage',
  decode: decodeUsageReport,
  glimpse: (message) => glimpseMessage(message, 6),
  handOver: (receiver, ...report) => receiver.usage(...report),
};

const metricsMessages: ReportFormat<MetricsReport> = {
  route: 'metrics',
  decode: decodeMetricsReport,
  glimpse: (message) => glimpseMessage(message, 7),
  handOver: (receiver, ...report) => receiver.metrics(...report),
};

/** What `proto/usage.proto` and `proto/metrics.proto` offer. Both answer with the number of `stats` received. */
export const operations: readonly Operation[] = [
  operationOf('Usage.Usage', 'SendStats', usageMessages),
  operationOf('Metrics.Metrics', 'SendMetrics', metricsMessages),
];

function operationOf<Report extends UsageReport | MetricsReport>(
  service: string,
  method: string,
  format: ReportFormat<Report>,
): Operation {
  return {
    service,
    method,
    route: format.route,
    glimpse: format.glimpse,
    run: (receiver, arrival) => takeReport(receiver, format, arrival).then(answerOf),
  };
}

/** Answers in their frames, by the number of `stats` received: those of most reports. */
const answers: Buffer[] = [];
const maxCachedAnswers = 1_000;

function answerOf(statCount: number): Buffer {
  const known = answers[statCount];
  if (known !== undefined) return known;
  const answer = messageFrame(numberField(1, statCount));
  if (statCount < maxCachedAnswers) answers[statCount] = answer;
  return answer;
}

/** The path of an operation: that of its HTTP/2 and of its gRPC-Web requests. */
export function pathOf({ service, method }: Pick<Operation, 'service' | 'method'>): string {
  return `/${service}/${method}`;
}
