import { join } from 'node:path';
import { generate } from './generator.ts';
import type { LoadReport } from './load.ts';
import type { Measured, Timing } from './load-run.ts';
import type { ReportMarks } from './report-call.ts';

/** What the gRPC load generator is to do. */
export interface GrpcPlan extends Timing {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** Calls under way on each connection. */
  readonly streams: number;
  readonly path: string;
  /** The encoded message, in base64, and what makes each one another. Each connection is an instance. */
  readonly message: string;
  readonly marks: ReportMarks;
  /** Of the first report. */
  readonly firstNumber: number;
  /** The encoded answer of a call that succeeded, in base64. */
  readonly answer: string;
}

/** `requests` are the calls that succeeded, those of the warm-up too. */
export type GrpcReport = Measured & Pick<LoadReport, 'requests' | 'errors'>;

/** Runs the plan. @throws {Error} when the generator fails */
export function loadGrpc(plan: GrpcPlan): Promise<GrpcReport> {
  return generate(join(import.meta.dirname, 'drive-grpc.ts'), plan);
}
