import { increase } from '../src/runtime/counts.ts';
import { median } from './numbers.ts';
import { threadSeconds } from './process-stats.ts';

/** Names of the threads of the service. Threads of the runtime have other names. */
const named: ReadonlySet<string> = new Set(['main', 'front', 'journal', 'fold']);

/** CPU time of a process per packet, by name of the thread. */
export class ThreadCosts {
  readonly #pid: number;
  /** CPU time per packet of each run, µs, by name. Threads of the runtime are counted as `runtime`. */
  readonly #runs: ReadonlyMap<string, number>[] = [];

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Measures the CPU time of a run. @param drive sends packets, and returns their number */
  async measure(drive: () => Promise<number>): Promise<void> {
    const before = threadSeconds(this.#pid);
    const packets = await drive();
    const costs = new Map<string, number>();
    for (const [name, after] of threadSeconds(this.#pid)) {
      const micros = ((after - (before.get(name) ?? 0)) * 1e6) / packets;
      const kind = named.has(name) ? name : 'runtime';
      increase(costs, kind, micros);
    }
    this.#runs.push(costs);
  }

  /** Returns the median of all runs, µs per packet. @param name name of the threads, or `runtime` */
  of(name: string): number {
    return median(this.#runs.map((costs) => costs.get(name) ?? 0));
  }

  /** The median of all runs for all threads together, µs per packet. */
  get all(): number {
    return median(this.#runs.map((costs) => [...costs.values()].reduce((sum, each) => sum + each, 0)));
  }
}
