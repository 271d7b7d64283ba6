import type { Combination, Transport } from './sweep.ts';

/** The roles of threads, in the order of a packet's path. */
export const threadRoles = ['front end', 'main', 'journal', 'fold', 'other'] as const;

export type ThreadRole = (typeof threadRoles)[number];

/** CPU time of a thread in a stage. */
export interface ThreadCpu {
  readonly role: ThreadRole;
  readonly cores: number;
}

/** The result of a stage. Latencies are in ms. */
export interface Measurement {
  readonly combination: Combination;
  readonly transport: Transport;
  readonly connections: number;
  /** Offered rate as a share of the ceiling; missing in a closed loop. */
  readonly share?: number;
  /** Packets per second that were offered; missing in a closed loop. */
  readonly offered?: number;
  readonly packetsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** CPU of each thread of the server; empty if the bench did not start the server. */
  readonly threads: readonly ThreadCpu[];
  /** Cores used by the generator, and by the busiest of its threads. */
  readonly generatorCores: number;
  readonly generatorBusiest: number;
  /** Cores used by other processes; missing if the bench did not start the server. */
  readonly foreignCores?: number;
  /** True if other processes used enough CPU to distort the stage. */
  readonly isDisturbed?: boolean;
  /** The generator's share of each latency, at most its delays of sending and reading, and the rest of each latency. */
  readonly generatorP50: number;
  readonly generatorP99: number;
  readonly othersP99: number;
  /** Flushes of the disk per second, and bytes written to it per packet, for the whole device. */
  readonly flushesPerSecond?: number;
  readonly bytesPerPacket?: number;
  /** Share of the time in which a commit was in progress. */
  readonly commitShare?: number;
  /** Packets without the expected response. */
  readonly errors: number;
  readonly errorKinds: Readonly<Record<string, number>>;
  /** The first difference between the acknowledged packets and the usage report; missing if both are equal. */
  readonly difference?: string;
}

/** Formats a number of things: `1 run`, `2 runs`. */
export function formatCount(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** Returns the cores used by the server and the generator. */
export function ownCores({ threads, generatorCores }: Measurement): number {
  return threads.reduce((sum, { cores }) => sum + cores, generatorCores);
}

/** Returns the CPU time of one role per packet, µs. */
export function computeMicros({ threads, packetsPerSecond }: Measurement, role: ThreadRole): number {
  const cores = threads.filter((each) => each.role === role).reduce((sum, each) => sum + each.cores, 0);
  return packetsPerSecond === 0 ? 0 : (cores / packetsPerSecond) * 1e6;
}

/** Formats settings: `threads 2, commit-delay 5`. @param base settings that are not repeated */
export function formatCombination(combination: Combination, base?: Combination): string {
  const entries = Object.entries(combination) as [keyof Combination, number][];
  const named = entries.filter(([name, value]) => base?.[name] !== value);
  if (named.length === 0) return entries.length === 0 ? 'running server' : 'base';
  return named.map(([name, value]) => `${name} ${value}`).join(', ');
}

export function isSame(one: Combination, other: Combination): boolean {
  return formatCombination(one) === formatCombination(other);
}
