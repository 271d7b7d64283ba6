import { join } from 'node:path';
import { generate } from './generator.ts';
import type { LoadReport } from './load.ts';
import type { Measured, Timing } from './load-run.ts';
import type { ReportMarks } from './report-call.ts';

/** A plan of the gRPC load generator. */
export interface GrpcPlan extends Timing {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** Concurrent calls on each connection. */
  readonly streams: number;
  readonly path: string;
  /** The encoded message, in base64, and the positions that make each one unique. Each connection is an instance. */
  readonly message: string;
  readonly marks: ReportMarks;
  /** Time of the first report. */
  readonly firstNumber: number;
  /** The encoded response of a successful call, in base64. */
  readonly answer: string;
}

/** `requests` is the number of successful calls, including the warm-up. */
export type GrpcReport = Measured & Pick<LoadReport, 'requests' | 'errors'>;

/** Runs the plan. @throws {Error} if the generator fails */
export function loadGrpc(plan: GrpcPlan): Promise<GrpcReport> {
  return generate(join(import.meta.dirname, 'drive-grpc.ts'), plan);
}
