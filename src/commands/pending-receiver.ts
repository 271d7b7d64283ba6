import type { LargeBodies } from '../admission/large-bodies.ts';
import { ApiError } from '../errors.ts';
import type { ReportReceiver } from '../reports/report.ts';

/** The refusal of everything that arrives before the service is ready. */
export const notStarted = new ApiError('store_unavailable', 'The service is starting', 1);

/** Stands in for the receiver of reports, and refuses them until there is one: gRPC listens before the service is ready. */
export class PendingReceiver implements ReportReceiver {
  #receiver: ReportReceiver | undefined;

  begin(receiver: ReportReceiver): void {
    this.#receiver = receiver;
  }

  get bodies(): LargeBodies {
    return this.#ready().bodies;
  }

  admit(): void {
    this.#ready().admit();
  }

  charge(...report: Parameters<ReportReceiver['charge']>): string {
    return this.#ready().charge(...report);
  }

  usage(...report: Parameters<ReportReceiver['usage']>): Promise<void> {
    return this.#ready().usage(...report);
  }

  metrics(...report: Parameters<ReportReceiver['metrics']>): Promise<void> {
    return this.#ready().metrics(...report);
  }

  /** Without a service there is no ledger either. */
  refused(...refused: Parameters<ReportReceiver['refused']>): void {
    this.#receiver?.refused(...refused);
  }

  #ready(): ReportReceiver {
    if (this.#receiver === undefined) throw notStarted;
    return this.#receiver;
  }
}
