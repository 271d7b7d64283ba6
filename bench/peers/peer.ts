import type { BenchPacket } from '../../src/bench/load/packets.ts';

/** An HTTP request, and the checks that the program must count for it. */
export interface PeerRequest {
  readonly text: string;
  readonly checks: number;
}

/** A program under comparison. */
export interface Peer {
  /** The status of a successful request. */
  readonly status: number;
  /** A time in each request that the generator replaces, as in `LoadPlan`. */
  readonly time?: string;
  /** The unique users of a flag: the kind of count. */
  readonly uniqueUsers: string;
  start(): Promise<RunningPeer>;
}

/** A running program. */
export interface RunningPeer {
  /** With versions. */
  readonly name: string;
  /** `HOST:PORT`. It differs after a restart. */
  readonly http: string;
  /** The process that serves the requests. */
  readonly pid: number;
  /** All processes, with those of its database. */
  processes(): readonly number[];
  /** Different requests, which the generator sends in turn. */
  requests(): readonly PeerRequest[];
  /** Its stored counts; `undefined` if it stores none. */
  readonly counts: PeerCounts | undefined;
  stop(): Promise<void>;
}

/** Counts that a program stores. */
export interface PeerCounts {
  /** Sum of all checks. */
  total(): Promise<number>;
  /** A request that a client repeats because it received no response. */
  retried(): PeerRequest;
  /** Kills all processes with SIGKILL. */
  kill(): Promise<void>;
  /** Starts all processes again. */
  restart(): Promise<void>;
}

/** The sum of the checks that a packet adds. */
export function countChecks({ counts }: BenchPacket): number {
  return [...counts.values()].reduce((sum, [checks]) => sum + checks, 0);
}
