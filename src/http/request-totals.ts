import type { RefusalCode } from '../contract/refusals.ts';
import { Histogram } from '../runtime/histogram.ts';
import type { Reply } from './types.ts';

export interface RouteTotals {
  readonly method: string;
  /** The route's pattern. A path may name a person. */
  readonly route: string;
  readonly statuses: Map<number, number>;
  /** Time from a request's head to its answer, seconds. */
  readonly durations: Histogram;
}

/** Counts requests by route and status, and refusals by code. Unauthenticated senders cannot add rows. */
export class RequestTotals {
  readonly codes = new Map<RefusalCode, number>();
  readonly #rows = new Map<string, RouteTotals>();

  get routes(): Iterable<RouteTotals> {
    return this.#rows.values();
  }

  /** The row of a route; all listeners share it. */
  row(method: string, route: string): RouteTotals {
    const key = `${method} ${route}`;
    const row = this.#rows.get(key) ?? {
      method,
      route,
      statuses: new Map(),
      durations: new Histogram(),
    };
    this.#rows.set(key, row);
    return row;
  }

  /** @param ms duration until the answer */
  count({ statuses, durations }: RouteTotals, { status, code }: Reply, ms: number): void {
    durations.observe(ms / 1000);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (code !== undefined) this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }
}
