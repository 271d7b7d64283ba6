import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import { AlwaysOnSampler, BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Refusal } from '../../contract/errors.ts';
import type { RequestTrace, RequestTraces } from '../../http/router.ts';
import type { HttpResponse, Request } from '../../http/types.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ChildSpanOptions, Span as ServiceSpan } from '../../runtime/spans.ts';

interface TraceSettings {
  readonly processor: SpanProcessor;
  readonly resource: Resource;
  /** Number of requests without a `traceparent` of which, on average, one is traced. */
  readonly oneIn: number;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Returns a random number from 0 to 1. */
  readonly random?: () => number;
}

/** Maximum number of traced requests a second. The number is limited because any client can send a `traceparent`. */
const maxPerSecond = 100;

/**
 * Traces requests whose `traceparent` has the sampled flag, and a sample of all other requests. An untraced request
 * costs one header lookup and one random number.
 */
export class SampledTraces {
  readonly requests: RequestTraces;
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #settings: TraceSettings;
  readonly #propagator = new W3CTraceContextPropagator();
  #second = 0;
  #inSecond = 0;

  constructor(settings: TraceSettings) {
    const { processor, resource } = settings;
    this.#settings = settings;
    // Every span is recorded, because this class samples before it creates a span.
    const sampler = new AlwaysOnSampler();
    this.#provider = new BasicTracerProvider({ resource, sampler, spanProcessors: [processor] });
    this.#tracer = this.#provider.getTracer('flagmeter');
    this.requests = { begin: (request) => this.#begin(request) };
  }

  close(): Promise<void> {
    return this.#provider.shutdown();
  }

  /** Starts the span of a webhook delivery, in the trace of the request that caused it or in a new sampled trace. */
  delivery(cause: string | undefined, attributes: ChildSpanOptions['attributes']): TracedSpan | undefined {
    const parent = cause === undefined ? this.#byChance() : this.#continued(cause, undefined);
    return parent && this.#start('POST webhook', SpanKind.CLIENT, { ...attributes }, parent)?.traced;
  }

  #begin(request: Request): RequestTrace | undefined {
    const { method } = request;
    const sent = request.header('traceparent');
    const parent = sent === undefined ? this.#byChance() : this.#continued(sent, request.header('tracestate'));
    if (parent === undefined) return undefined;
    const begun = this.#start(method, SpanKind.SERVER, { 'http.request.method': method }, parent);
    if (begun === undefined) return undefined;
    const { span, traced } = begun;
    return { span: traced, end: (route, response) => endSpan(span, traced, method, route, response) };
  }

  #byChance(): Context | undefined {
    const { oneIn, random = Math.random } = this.#settings;
    return random() * oneIn < 1 ? ROOT_CONTEXT : undefined;
  }

  #continued(traceparent: string, tracestate: string | undefined): Context | undefined {
    const carrier = { traceparent, ...(tracestate !== undefined && { tracestate }) };
    const parent = this.#propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
    const isSampled = (trace.getSpanContext(parent)?.traceFlags ?? 0) & TraceFlags.SAMPLED;
    return isSampled ? parent : undefined;
  }

  #start(name: string, kind: SpanKind, attributes: Attributes, parent: Context) {
    const { clock } = this.#settings;
    const began = clock.now();
    const since = clock.monotonic();
    const second = Math.floor(since / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
    }
    if (this.#inSecond >= maxPerSecond) return undefined;
    this.#inSecond += 1;
    const span = this.#tracer.startSpan(name, { kind, attributes, startTime: began }, parent);
    const now = () => began + clock.monotonic() - since;
    return { span, traced: new TracedSpan(this.#tracer, span, now) };
  }
}

/** Ends a span. The `traceresponse` header tells the caller the id of the span (W3C Trace Context, level 2). */
function endSpan(span: Span, traced: TracedSpan, method: string, route: string, response: HttpResponse): HttpResponse {
  const { status, code, headers } = response;
  span.updateName(`${method} ${route}`);
  span.setAttribute('http.route', route);
  span.setAttribute('http.response.status_code', status);
  if (code !== undefined) span.setAttribute('error.type', code);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  traced.end();
  return { ...response, headers: { ...headers, traceresponse: traced.traceparent } };
}

class TracedSpan implements ServiceSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #now: () => number;

  /** @param now clock in Unix ms, shared by all spans of the trace, so that a child never ends after its parent */
  constructor(tracer: Tracer, span: Span, now: () => number) {
    this.#tracer = tracer;
    this.#span = span;
    this.#now = now;
  }

  get traceparent(): string {
    const { traceId, spanId } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-01`;
  }

  startChild(name: string, { isCall = false, attributes = {} }: ChildSpanOptions = {}): TracedSpan {
    const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const parent = trace.setSpan(ROOT_CONTEXT, this.#span);
    const options = { kind, attributes, startTime: this.#now() };
    return new TracedSpan(this.#tracer, this.#tracer.startSpan(name, options, parent), this.#now);
  }

  /** Ends the span. Only the type of an error is recorded, because its message can contain personal data. */
  end(error?: unknown): void {
    if (error !== undefined) {
      this.#span.setAttribute('error.type', getErrorType(error));
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end(this.#now());
  }
}

function getErrorType(error: unknown): string {
  if (error instanceof Refusal) return error.code;
  return error instanceof Error ? error.name : String(error);
}
