import type { KeyHolder } from '../../src/accounts/key-index.ts';
import type { Refusal } from '../../src/contract/errors.ts';
import type { RefusalCode } from '../../src/contract/refusals.ts';
import type { SentBody } from '../../src/http/sent-body.ts';
import { LargeBodies } from '../../src/ingest/admission/large-bodies.ts';
import { type FormatName, reportDecoders } from '../../src/ingest/formats/reports/formats.ts';
import type { ReportKind, ReportKinds, TransportSource } from '../../src/ingest/formats/reports/kinds.ts';
import { LongReport } from '../../src/ingest/formats/reports/long-report.ts';
import type { MetricsReport, Report, UsageReport } from '../../src/ingest/formats/reports/report.ts';
import type { LedgerSource } from '../../src/ingest/ledger/ledger.ts';
import type { ClaimedSender } from '../../src/ingest/pipeline.ts';
import { systemClock } from '../../src/runtime/clock.ts';

type Sender = TransportSource & { readonly idempotencyKey?: string };

/** A refusal as the ledger records it. If the application is unknown, only the code is recorded. */
export interface RecordedRefusal {
  readonly code: RefusalCode;
  readonly route?: LedgerSource['route'];
  readonly sender?: Sender;
  readonly claimed: ClaimedSender;
}

/** A receiver that accepts and records every report by default. It knows an application for every key. */
export class RecordingReports implements ReportKinds {
  readonly reports: { readonly report: Report; readonly sender: Sender }[] = [];
  readonly told: RecordedRefusal[] = [];
  /** Formats of the reports that another thread would decode. */
  readonly decoded: FormatName[] = [];
  /** Error to throw for every report. */
  refusal: unknown;
  /** Error to throw before a report is read. */
  closed: unknown;
  /** Resolves when a report is considered to be on disk. */
  durable = Promise.resolve();
  readonly usage = this.#kind<UsageReport>('usage');
  readonly metrics = this.#kind<MetricsReport>('metrics');

  /** Dependencies for the pipeline under test. */
  readonly deps = {
    clock: systemClock,
    monitor: { admits: () => true, admitsApplication: () => true },
    usage: { refusal: () => undefined },
    rates: { take: () => 0, owe: () => {}, wait: () => 0 },
    health: { ready: true },
    bodies: new LargeBodies(1e9),
    unknown: { take: () => 0, owe: () => {}, wait: () => 0 },
    decoder: {
      schedule: (_: string, work: () => Promise<unknown>) => work(),
      decode: async (body: SentBody, format: FormatName) => {
        this.decoded.push(format);
        return reportDecoders[format](body.unpack());
      },
    },
    collect: () => {
      if (this.closed !== undefined) throw this.closed;
    },
    keys: { findKey: createHolder, recordUse: () => {}, recordRefusal: () => {} },
    ledger: {
      refusedUnread: ({ code }: Refusal) => void this.told.push({ code, claimed: {} }),
      refusedUnattributed: ({ code }: Refusal) => void this.told.push({ code, claimed: {} }),
      refused: ({ code }: Refusal, source: LedgerSource, { holder, environment }: RefusedHolder) => {
        const { route, transport, userAgent, instance } = source;
        const claimed = { appKey: holder.appKey, environment, instanceName: instance };
        this.told.push({ code, route, sender: { transport, userAgent }, claimed: JSON.parse(JSON.stringify(claimed)) });
      },
    },
  } as unknown as ReportKinds['deps'];

  #kind<R extends Report>(route: ReportKind<R>['route']): ReportKind<R> {
    return {
      route,
      resolve: ({ appKey }) => ({ holder: createHolder(appKey), environment: { number: 1 } as never }),
      prepare: async () => {},
      count: (message, _, source, key) => {
        const report = (message instanceof LongReport ? message.report : message) as unknown as R;
        if (this.refusal !== undefined) return { durable: Promise.reject(this.refusal), omission: undefined };
        this.reports.push({ report, sender: { ...source, ...(key === undefined ? {} : { idempotencyKey: key }) } });
        return { durable: this.durable, omission: undefined };
      },
    };
  }
}

type NamedHolder = KeyHolder & { readonly appKey: string };
type RefusedHolder = { readonly holder: NamedHolder; readonly environment: string | undefined };

function createHolder(appKey: string): NamedHolder {
  return { appKey, application: { number: 1 } } as unknown as NamedHolder;
}
