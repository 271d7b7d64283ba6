import { numberField } from './proto-writer.ts';
import type { ReportReceiver, Sender } from './report.ts';
import { decodeMetricsReport } from './report-proto-metrics.ts';
import { decodeUsageReport } from './report-proto-usage.ts';

/** A report as it came in a call, by gRPC or by gRPC-Web. */
export interface ReportCall {
  readonly message: Uint8Array;
  readonly sender: Sender;
  /** Asked when the report is about to be counted. @throws {Refusal} when nobody waits for the answer any more */
  checkWanted(): void;
}

/** An operation that takes a report. */
export interface Operation {
  /** Full name of the service. */
  readonly service: string;
  readonly method: string;
  /**
   * Resolves with the encoded answer when the report is on disk.
   * @throws {Refusal} nothing has changed then
   */
  run(call: ReportCall, receiver: ReportReceiver): Promise<Buffer>;
}

/** What `proto/usage.proto` and `proto/metrics.proto` offer. Both answer with the number of `stats` received. */
export const operations: readonly Operation[] = [
  {
    service: 'Usage.Usage',
    method: 'SendStats',
    async run({ message, sender, checkWanted }, receiver) {
      const report = decodeUsageReport(message);
      checkWanted();
      await receiver.usage(report, sender);
      return numberField(1, report.statCount);
    },
  },
  {
    service: 'Metrics.Metrics',
    method: 'SendMetrics',
    async run({ message, sender, checkWanted }, receiver) {
      const report = decodeMetricsReport(message);
      checkWanted();
      await receiver.metrics(report, sender);
      return numberField(1, report.statCount);
    },
  },
];

/** The path of an operation: that of its HTTP/2 and of its gRPC-Web requests. */
export function pathOf({ service, method }: Pick<Operation, 'service' | 'method'>): string {
  return `/${service}/${method}`;
}
