import type { RefusalCode } from '../contract/refusals.ts';
import { increase } from '../runtime/counts.ts';
import { Histogram } from '../runtime/histogram.ts';
import type { HttpResponse } from './types.ts';

export interface RouteTotals {
  readonly method: string;
  /** Pattern of the route instead of the path, which could name a person. */
  readonly route: string;
  readonly statuses: Map<number, number>;
  /** Time from the head of a request to its response, seconds. */
  readonly durations: Histogram;
}

/** Totals counted by another thread. */
export interface TakenTotals {
  readonly routes: readonly (Pick<RouteTotals, 'method' | 'route' | 'statuses'> & {
    readonly durations: Float64Array;
  })[];
  readonly codes: ReadonlyMap<RefusalCode, number>;
}

/** Counts requests by route and status, and refusals by code. Unauthenticated senders cannot add rows. */
export class RequestTotals {
  readonly codes = new Map<RefusalCode, number>();
  readonly #rows = new Map<string, RouteTotals>();

  get routes(): Iterable<RouteTotals> {
    return this.#rows.values();
  }

  /** Returns the row of a route. All listeners share the row. */
  row(method: string, route: string): RouteTotals {
    const key = `${method} ${route}`;
    const row = this.#rows.get(key) ?? { method, route, statuses: new Map(), durations: new Histogram() };
    this.#rows.set(key, row);
    return row;
  }

  /** @param ms time until the response */
  count({ statuses, durations }: RouteTotals, { status, code }: HttpResponse, ms: number): void {
    durations.observe(ms / 1000);
    increase(statuses, status);
    if (code !== undefined) increase(this.codes, code);
  }

  /** Returns the counts since the last call, and sets them to zero. */
  take(): TakenTotals {
    const used = [...this.#rows.values()].filter(({ statuses }) => statuses.size > 0);
    const routes = used.map(({ method, route, statuses, durations }) => {
      const taken = { method, route, statuses: new Map(statuses), durations: durations.take() };
      statuses.clear();
      return taken;
    });
    const codes = new Map(this.codes);
    this.codes.clear();
    return { routes, codes };
  }

  add({ routes, codes }: TakenTotals): void {
    for (const { method, route, statuses, durations } of routes) {
      const row = this.row(method, route);
      for (const [status, count] of statuses) increase(row.statuses, status, count);
      row.durations.add(durations);
    }
    for (const [code, count] of codes) increase(this.codes, code, count);
  }
}
