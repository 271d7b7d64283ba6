import { Histogram } from '../runtime/histogram.ts';

/** One more than the largest code of gRPC. */
const codes = 17;

/** The calls of one method, by the code that they ended with. */
export class MethodTally {
  /** `/Service/Method`, or `none` for calls of methods that there are not. */
  readonly method: string;
  /** From a call's head until its answer, seconds; not of calls that bring any number of messages. */
  readonly durations = new Histogram();
  readonly #ended = new Float64Array(codes);

  constructor(method: string) {
    this.method = method;
  }

  /** @param ms that the answer took, when it was one call and one answer */
  count(code: number, ms: number | undefined): void {
    this.#ended[code]! += 1;
    if (ms !== undefined) this.durations.observe(ms / 1000);
  }

  /** How many calls have ended with each code. */
  *ended(): Iterable<readonly [code: number, count: number]> {
    for (const [code, count] of this.#ended.entries()) if (count > 0) yield [code, count];
  }
}

/** Counts the calls of the gRPC listener. Nothing that a stranger sends adds a row. */
export class CallTally {
  readonly unknown = new MethodTally('none');
  readonly #rows = new Map<string, MethodTally>();

  get methods(): Iterable<MethodTally> {
    return [...this.#rows.values(), this.unknown];
  }

  row(method: string): MethodTally {
    const row = this.#rows.get(method) ?? new MethodTally(method);
    this.#rows.set(method, row);
    return row;
  }
}
