import type { Combination, Transport } from './sweep.ts';

/** The roles of threads, in the order in which they handle a packet. */
export const threadRoles = ['front end', 'main', 'journal', 'fold', 'other'] as const;

export type ThreadRole = (typeof threadRoles)[number];

/** CPU use of a thread in a stage. */
export interface ThreadCpu {
  readonly role: ThreadRole;
  readonly cores: number;
}

/** The result of a stage. Latencies are in ms. */
export interface Measurement {
  readonly combination: Combination;
  readonly transport: Transport;
  readonly connections: number;
  /** Offered rate as a share of the ceiling, which is the rate of a closed loop; absent for a closed loop. */
  readonly share?: number;
  /** Packets per second that were offered; absent for a closed loop. */
  readonly offered?: number;
  readonly packetsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** CPU use of each thread of the server; empty if the bench did not start the server. */
  readonly threads: readonly ThreadCpu[];
  /** Cores used by the generator, and cores used by its busiest thread. */
  readonly generatorCores: number;
  readonly generatorBusiest: number;
  /** Number of cores that other processes used; absent if the bench did not start the server. */
  readonly foreignCores?: number;
  /** True if other processes used so much CPU that they distorted the stage. */
  readonly isDisturbed?: boolean;
  /** The generator's share of the latencies: its delays of sending and reading. The rest is in `othersP99`. */
  readonly generatorP50: number;
  readonly generatorP99: number;
  readonly othersP99: number;
  /** Flushes of the whole disk per second, and bytes written to it per packet. */
  readonly flushesPerSecond?: number;
  readonly bytesPerPacket?: number;
  /** Share of the time in which a commit was in progress. */
  readonly commitShare?: number;
  /** Number of packets without the expected response. */
  readonly errors: number;
  readonly errorKinds: Readonly<Record<string, number>>;
  /** The first difference between the acknowledged packets and the usage report; absent if both are equal. */
  readonly difference?: string;
}

/** Formats a number with its noun: `1 run`, `2 runs`. */
export function formatCount(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** Returns the number of cores that the server and the generator used. */
export function ownCores({ threads, generatorCores }: Measurement): number {
  return threads.reduce((sum, { cores }) => sum + cores, generatorCores);
}

/** Returns the CPU time of one role per packet, µs. */
export function computeMicros({ threads, packetsPerSecond }: Measurement, role: ThreadRole): number {
  const cores = threads.filter((each) => each.role === role).reduce((sum, each) => sum + each.cores, 0);
  return packetsPerSecond === 0 ? 0 : (cores / packetsPerSecond) * 1e6;
}

/** Formats settings: `threads 2, commit-delay 5`. @param base settings that the text omits */
export function formatCombination(combination: Combination, base?: Combination): string {
  const entries = Object.entries(combination) as [keyof Combination, number][];
  const named = entries.filter(([name, value]) => base?.[name] !== value);
  if (named.length === 0) return entries.length === 0 ? 'running server' : 'base';
  return named.map(([name, value]) => `${name} ${value}`).join(', ');
}

export function isSame(one: Combination, other: Combination): boolean {
  return formatCombination(one) === formatCombination(other);
}
