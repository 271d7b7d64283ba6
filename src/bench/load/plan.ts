/**
 * src/bench/load: the load generator. `runLoad` sends a plan's requests from separate threads, on keep-alive
 * connections, and measures the latencies. In an open loop, latencies are measured from the time at which a request was
 * due (no coordinated omission). The generator knows the formats of packets and reports, but not the service. The
 * threads need Bun.
 */

import type { Quantiles } from './histogram.ts';
import type { ReportPositions } from './reports.ts';

/** The schedule of requests, and its measured part. */
export interface Timing {
  /** Duration of the warm-up, whose responses are counted but not measured. */
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** Requests per second of an open loop. By default, the loop is closed: a request follows each response. */
  readonly rate?: number;
  /** Maximum number of requests of a closed loop. */
  readonly limit?: number;
  /**
   * True for an open loop with a higher rate than the target accepts. Latencies are then measured from sending.
   * Requests that found no idle connection before the end are omitted.
   */
  readonly overload?: boolean;
}

/** The target, and the connections to it. */
interface LoadTarget extends Timing {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** Number of threads that share the connections and the rate; 1 by default, at most one per connection. */
  readonly threads?: number;
}

export type LoadPlan = HttpPlan | GrpcPlan;

/** A plan of requests over HTTP/1.1. Each connection has one request in progress. */
export interface HttpPlan extends LoadTarget {
  readonly protocol?: 'http';
  /** Complete requests, sent round robin. */
  readonly requests: readonly string[];
  /** `latin1` if the requests are bytes, one per character; `utf8` by default. */
  readonly encoding?: 'latin1';
  /** Placeholder for a time with microseconds in each request. It is replaced by the unique time of sending. */
  readonly time?: string;
  /** The status of a successful request; 202 by default. */
  readonly status?: number;
}

/** A plan of gRPC calls. Each connection sends as another instance of an application. */
export interface GrpcPlan extends LoadTarget {
  readonly protocol: 'grpc';
  readonly streams: number;
  readonly path: string;
  /** The encoded message, in base64, and the positions at which each copy gets unique values. */
  readonly message: string;
  readonly positions: ReportPositions;
  /**
   * Time of the first report, in microseconds after `positions.since`. Later plans start after the reports already
   * sent.
   */
  readonly firstNumber: number;
  /** The encoded response of a successful call, in base64. */
  readonly response: string;
}

/** The measurements. Latencies are in milliseconds, and cover the successful requests in the measured period. */
export interface LoadReport extends Quantiles {
  /** `open`: latencies begin when a request is due. `closed`: they begin when it is sent, which hides stalls. */
  readonly loop: 'open' | 'closed';
  /** Duration of the measured period. */
  readonly seconds: number;
  /** Successful requests per second in the measured period. */
  readonly rps: number;
  /** The distribution of the latencies: the middle of each step, and the number of latencies in it. */
  readonly latencies: readonly (readonly [ms: number, count: number])[];
  /** Number of requests sent, including the warm-up. */
  readonly sent: number;
  /** Number of successful requests, including the warm-up. */
  readonly requests: number;
  /** Number of successful requests by index of the request; a gRPC plan has one request. */
  readonly accepted: readonly number[];
  /**
   * Number of unsuccessful requests by reason: an HTTP status, the name of a gRPC status, `answer` (an unexpected
   * response), `closed`, `connect`, `unanswered`, `unasked` or `unreadable`.
   */
  readonly errors: Readonly<Record<string, number>>;
  /** Delays of the generator, ms: from the time when a request is due and its connection is idle until it is sent. */
  readonly lateness: Quantiles;
  /**
   * The generator's share of each latency in an open loop: its delay of sending, and the maximum time for which the
   * response waited to be read. Both include the time of waiting for a core.
   */
  readonly own: Quantiles;
  /** The rest of each latency: the target, the network, and the time of waiting for an idle connection. */
  readonly others: Quantiles;
  /** Cores used by the busiest thread of the generator. Near 1, the generator is the bottleneck, not the target. */
  readonly cpuShare: number;
  /** CPU time of all threads of the generator during the run, seconds. */
  readonly cpuSeconds: number;
}
