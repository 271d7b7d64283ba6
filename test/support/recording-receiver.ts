import { LargeBodies } from '../../src/admission/large-bodies.ts';
import type { ApiError, ErrorCode } from '../../src/errors.ts';
import type {
  MetricsReport,
  ReportGlimpse,
  ReportReceiver,
  ReportRoute,
  Sender,
  UsageReport,
} from '../../src/reports/report.ts';

/** What the ledger would be told of a refusal. */
export interface Told {
  readonly code: ErrorCode;
  readonly route: ReportRoute;
  readonly sender: Sender;
  readonly glimpse: ReportGlimpse;
}

/** Takes every report, unless told otherwise, and keeps what it got. */
export class RecordingReceiver implements ReportReceiver {
  readonly reports: { readonly report: UsageReport | MetricsReport; readonly sender: Sender }[] = [];
  readonly told: Told[] = [];
  readonly bodies = new LargeBodies(1e9);
  /** Thrown at every report. */
  refusal: unknown;
  /** Thrown before a report is read. */
  closed: unknown;

  charge(): string {
    return '';
  }

  admit(): void {
    if (this.closed !== undefined) throw this.closed;
  }

  async usage(report: UsageReport, sender: Sender): Promise<void> {
    this.#take(report, sender);
  }

  async metrics(report: MetricsReport, sender: Sender): Promise<void> {
    this.#take(report, sender);
  }

  refused({ code }: ApiError, route: ReportRoute, sender: Sender, glimpse: ReportGlimpse): void {
    this.told.push({ code, route, sender, glimpse });
  }

  #take(report: UsageReport | MetricsReport, sender: Sender): void {
    if (this.refusal !== undefined) throw this.refusal;
    this.reports.push({ report, sender });
  }
}
