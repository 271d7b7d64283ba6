import { drive } from './drive.ts';

/** What the load generator is to do. */
export interface LoadPlan {
  readonly host: string;
  readonly port: number;
  /** Keep-alive connections; each has one request under way. */
  readonly connections: number;
  /** Whole HTTP/1.1 requests, sent in turn. */
  readonly requests: readonly string[];
  /** Answers of the first seconds are counted but not measured. */
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** The status of a request that went well; 202 without it. */
  readonly status?: number;
  /** Requests a second of an open loop; without it each connection sends again as soon as it was answered. */
  readonly rate?: number;
  /** Stop a closed loop after so many requests, if that comes before the time is over. */
  readonly limit?: number;
  /**
   * Of an open loop that offers more than is taken: latencies count from the sending, and what found no free connection
   * until the time was over is left out.
   */
  readonly overload?: boolean;
}

/**
 * What happened. Latencies are milliseconds, those of requests that went well; of an open loop from the time at which a
 * request was due.
 */
export interface LoadReport {
  /** Requests that went well, those of the warm-up too. */
  readonly requests: number;
  /** The same by index of the request. */
  readonly accepted: readonly number[];
  /** Everything that did not go well: by status, or `closed`, `connect`, `unanswered`, `unasked`, `unreadable`. */
  readonly errors: Readonly<Record<string, number>>;
  /** Length of the measured time. */
  readonly seconds: number;
  /** Requests a second that went well, of the measured time. */
  readonly rps: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  /** Cores that the generator itself used: near 1 it is the bottleneck, not the target. */
  readonly cpuShare: number;
}

/**
 * Runs the plan in a process of its own, so that the generator is the same whatever it drives.
 * @throws {Error} when the generator fails, with what it said
 */
export async function load(plan: LoadPlan): Promise<LoadReport> {
  const generator = Bun.spawn([process.execPath, import.meta.path], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const [report, code] = await Promise.all([new Response(generator.stdout).text(), generator.exited]);
  if (code !== 0) throw new Error(`the load generator failed with exit code ${code}`);
  return JSON.parse(report) as LoadReport;
}

if (import.meta.main) {
  const report = await drive((await Bun.stdin.json()) as LoadPlan);
  await Bun.write(Bun.stdout, JSON.stringify(report));
  process.exit(0);
}
