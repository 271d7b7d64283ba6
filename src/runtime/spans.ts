import { AsyncLocalStorage } from 'node:async_hooks';

export interface Span {
  /** Header of W3C Trace Context, with which another service continues the trace. */
  readonly traceparent: string;
  startChild(name: string, what?: ChildSpanOptions): Span;
  /** @param error the failure of the work, or its type as a string */
  end(error?: unknown): void;
}

export interface ChildSpanOptions {
  /** True if the span is a call to another service. */
  readonly isCall?: boolean;
  readonly attributes?: Readonly<Record<string, string | number>>;
}

const current = new AsyncLocalStorage<Span | undefined>();

/** `undefined` if the current request is not traced. */
export function currentSpan(): Span | undefined {
  return current.getStore();
}

/** Runs work in a span. If `span` is `undefined`, the work is not traced, even if a traced request started the work. */
export function inSpan<T>(span: Span | undefined, work: () => T): T {
  return current.run(span, work);
}

export function inChildSpan<T>(
  span: Span | undefined,
  name: string,
  work: () => Promise<T>,
  what?: ChildSpanOptions,
): Promise<T> {
  if (span === undefined) return work();
  const child = span.startChild(name, what);
  const done = inSpan(child, work);
  done.then(
    () => child.end(),
    (error) => child.end(error),
  );
  return done;
}
