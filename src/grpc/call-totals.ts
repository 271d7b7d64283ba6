import { Histogram } from '../runtime/histogram.ts';

/** Number of gRPC status codes. */
const codes = 17;

export class MethodTotals {
  /** `/Service/Method`, or `none` for calls of unknown methods. */
  readonly method: string;
  /** Time from the headers of a unary call to its response, seconds. */
  readonly durations = new Histogram();
  readonly #ended = new Float64Array(codes);

  constructor(method: string) {
    this.method = method;
  }

  /** @param ms time until the response, for a unary call */
  count(code: number, ms: number | undefined): void {
    this.#ended[code]! += 1;
    if (ms !== undefined) this.durations.observe(ms / 1000);
  }

  *ended(): Iterable<readonly [code: number, count: number]> {
    for (const [code, count] of this.#ended.entries()) if (count > 0) yield [code, count];
  }
}

/** Totals of the calls on the gRPC listener, by method. Calls of unknown methods share a row. */
export class CallTotals {
  readonly unknown = new MethodTotals('none');
  readonly #rows = new Map<string, MethodTotals>();

  get methods(): Iterable<MethodTotals> {
    return [...this.#rows.values(), this.unknown];
  }

  row(method: string): MethodTotals {
    const row = this.#rows.get(method) ?? new MethodTotals(method);
    this.#rows.set(method, row);
    return row;
  }
}
