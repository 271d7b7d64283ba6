import type { ErrorCode } from '../errors.ts';
import type { Reply } from './types.ts';

/** How the requests of one route ended, by status. */
export interface RouteTally {
  readonly method: string;
  /** The route's pattern, never a path: that may name a person. */
  readonly route: string;
  readonly statuses: Map<number, number>;
}

/** Counts requests by route and status, and refusals by code. What a stranger sends makes no new row. */
export class RequestTally {
  readonly codes = new Map<ErrorCode, number>();
  readonly #rows = new Map<string, RouteTally>();

  get routes(): Iterable<RouteTally> {
    return this.#rows.values();
  }

  /** The row of a route, which all listeners share. */
  row(method: string, route: string): RouteTally {
    const key = `${method} ${route}`;
    const row = this.#rows.get(key) ?? { method, route, statuses: new Map() };
    this.#rows.set(key, row);
    return row;
  }

  count({ statuses }: RouteTally, { status, code }: Reply): void {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (code !== undefined) this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }
}
