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
  /** Description of how the program counts the unique users of a flag. */
  readonly uniqueUsers: string;
  start(): Promise<RunningPeer>;
}

/** A running program. */
export interface RunningPeer {
  /** Name with versions. */
  readonly name: string;
  /** `HOST:PORT`. It changes at a restart. */
  readonly http: string;
  /** The process that serves the requests. */
  readonly pid: number;
  /** Returns the ids of all processes, including the processes of its database. */
  processes(): readonly number[];
  /** Returns different requests, which the generator sends in rotation. */
  requests(): readonly PeerRequest[];
  /** The stored counts; `undefined` if the program stores none. */
  readonly counts: PeerCounts | undefined;
  stop(): Promise<void>;
}

/** Counts that a program stores. */
export interface PeerCounts {
  /** Returns the sum of all checks. */
  total(): Promise<number>;
  /** Returns a request that a client repeats because it received no response. */
  retried(): PeerRequest;
  /** Kills all processes with SIGKILL. */
  kill(): Promise<void>;
  /** Starts all processes again. */
  restart(): Promise<void>;
}

/** Returns the sum of the checks that a packet adds. */
export function countChecks({ counts }: BenchPacket): number {
  return [...counts.values()].reduce((sum, [checks]) => sum + checks, 0);
}
