import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { ApiError } from '../../contract/errors.ts';
import type { PartOfSpan, Span as ServiceSpan } from '../../runtime/spans.ts';

/** A span that is sent to the collector when it has ended. */
export class TracedSpan implements ServiceSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #now: () => number;

  /** @param now the time of the trace, Unix ms: one clock for all of its spans, so that none ends after what it is a part of */
  constructor(tracer: Tracer, span: Span, now: () => number) {
    this.#tracer = tracer;
    this.#span = span;
    this.#now = now;
  }

  get traceparent(): string {
    const { traceId, spanId } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-01`;
  }

  part(name: string, { isCall = false, attributes = {} }: PartOfSpan = {}): TracedSpan {
    const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const parent = trace.setSpan(ROOT_CONTEXT, this.#span);
    const options = { kind, attributes, startTime: this.#now() };
    return new TracedSpan(this.#tracer, this.#tracer.startSpan(name, options, parent), this.#now);
  }

  /** An error is shown by its type alone: what it says may name a person. */
  end(error?: unknown): void {
    if (error !== undefined) {
      this.#span.setAttribute('error.type', typeOf(error));
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end(this.#now());
  }
}

function typeOf(error: unknown): string {
  if (error instanceof ApiError) return error.code;
  return error instanceof Error ? error.name : String(error);
}
