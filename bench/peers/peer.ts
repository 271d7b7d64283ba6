import type { BenchPacket } from '../../src/bench/load/packets.ts';

/** An HTTP request, and the number of checks that it adds. */
export interface PeerRequest {
  readonly text: string;
  readonly checks: number;
}

/** A program that is compared with others. */
export interface Peer {
  /** The status of a successful request. */
  readonly status: number;
  /** A time in each request, which the generator replaces: see `LoadPlan`. */
  readonly time?: string;
  /** Describes how the program counts the unique users of a flag. */
  readonly uniqueUsers: string;
  start(): Promise<RunningPeer>;
}

/** A running program. */
export interface RunningPeer {
  /** Name and versions of the program. */
  readonly name: string;
  /** `HOST:PORT`. It can change at a restart. */
  readonly http: string;
  /** Id of the process that serves the requests. */
  readonly pid: number;
  /** Returns the ids of all processes of the program, including its database. */
  processes(): readonly number[];
  /** Returns different requests, which the generator sends alternately. */
  requests(): readonly PeerRequest[];
  /** Access to the stored counts; `undefined` if the program stores no counts. */
  readonly counts: PeerCounts | undefined;
  stop(): Promise<void>;
}

/** Access to the counts that a program stores. */
export interface PeerCounts {
  /** Returns the sum of all checks. */
  total(): Promise<number>;
  /** Returns a request in the form in which a client repeats it after it received no response. */
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
