import { AsyncLocalStorage } from 'node:async_hooks';

/** A span of a trace. Its methods never throw. */
export interface Span {
  /** Identifies the span to other services that continue the trace (W3C Trace Context). */
  readonly traceparent: string;
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

/** The span of the current request; `undefined` if that is not traced. */
export function currentSpan(): Span | undefined {
  return current.getStore();
}

/** Runs work in a span, or outside any, even if another request started the work. */
export function inSpan<T>(span: Span | undefined, work: () => T): T {
  return current.run(span, work);
}

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
