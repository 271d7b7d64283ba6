import { AsyncLocalStorage } from 'node:async_hooks';

/** Some work of a trace, from its beginning to its end. None of this throws. */
export interface Span {
  /** Names it to others, who go on with the trace (W3C Trace Context). */
  readonly traceparent: string;
  /** Begins a part of it. */
  part(name: string, what?: PartOfSpan): Span;
  /** @param error if it failed; a text is its type */
  end(error?: unknown): void;
}

export interface PartOfSpan {
  /** Whether another service does the work. */
  readonly isCall?: boolean;
  readonly attributes?: Readonly<Record<string, string | number>>;
}

const current = new AsyncLocalStorage<Span | undefined>();

/** The span of the request for which this work is done; `undefined` when that is not traced. */
export function currentSpan(): Span | undefined {
  return current.getStore();
}

/** Does work for a span, or for none: also where the work of another request has begun what does it. */
export function inSpan<T>(span: Span | undefined, work: () => T): T {
  return current.run(span, work);
}

/** Does work as a part of a span, if there is one. */
export function asPart<T>(
  span: Span | undefined,
  name: string,
  work: () => Promise<T>,
  what?: PartOfSpan,
): Promise<T> {
  if (span === undefined) return work();
  const part = span.part(name, what);
  const done = inSpan(part, work);
  done.then(
    () => part.end(),
    (error) => part.end(error),
  );
  return done;
}
