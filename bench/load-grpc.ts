import { join } from 'node:path';
import type { GrpcPlan, LoadReport } from '../src/bench/load/plan.ts';

/**
 * Runs a plan in a separate process, with a client that parses only frames. This client needs a quarter of the CPU of
 * grpc-js, so the generator is not the bottleneck.
 * @throws {Error} if the generator fails
 */
export async function loadGrpc(plan: GrpcPlan): Promise<LoadReport> {
  const generator = Bun.spawn([process.execPath, join(import.meta.dirname, 'drive-grpc.ts')], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const [report, code] = await Promise.all([new Response(generator.stdout).text(), generator.exited]);
  if (code !== 0) throw new Error(`the load generator failed with exit code ${code}`);
  return JSON.parse(report) as LoadReport;
}
