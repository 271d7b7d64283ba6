import type { MetricsReport, ReportReceiver, Sender, UsageReport } from '../../../src/ingest/report.ts';

/** Takes every report, unless told otherwise, and keeps what it got. */
export class RecordingReceiver implements ReportReceiver {
  readonly reports: { readonly report: UsageReport | MetricsReport; readonly sender: Sender }[] = [];
  /** Thrown at every report. */
  refusal: unknown;
  /** Thrown before a report is read. */
  closed: unknown;

  admit(): void {
    if (this.closed !== undefined) throw this.closed;
  }

  async usage(report: UsageReport, sender: Sender): Promise<void> {
    this.take(report, sender);
  }

  async metrics(report: MetricsReport, sender: Sender): Promise<void> {
    this.take(report, sender);
  }

  private take(report: UsageReport | MetricsReport, sender: Sender): void {
    if (this.refusal !== undefined) throw this.refusal;
    this.reports.push({ report, sender });
  }
}
