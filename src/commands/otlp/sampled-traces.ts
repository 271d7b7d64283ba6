import {
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
import type { Clock } from '../../clock.ts';
import type { RequestTrace, RequestTraces } from '../../http/traced.ts';
import type { Reply, Request } from '../../http/types.ts';

interface TraceSettings {
  readonly processor: SpanProcessor;
  readonly resource: Resource;
  /** Of how many requests without a `traceparent` one is traced. */
  readonly oneIn: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** The most requests a second that are traced: whoever sends a `traceparent` could ask for any number. */
const mostPerSecond = 100;

/**
 * Traces requests: those whose `traceparent` says that the caller's trace is sampled, and a sample of those that have none. A request
 * that is not traced costs a look at one header, and a random number.
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
    // What is traced is decided here, before anything is made for it.
    const sampler = new AlwaysOnSampler();
    this.#provider = new BasicTracerProvider({ resource, sampler, spanProcessors: [processor] });
    this.#tracer = this.#provider.getTracer('flagmeter');
    this.requests = { begin: (request) => this.#begin(request) };
  }

  /** Sends what waits. */
  close(): Promise<void> {
    return this.#provider.shutdown();
  }

  #begin(request: Request): RequestTrace | undefined {
    const sent = request.header('traceparent');
    const { oneIn, random = Math.random } = this.#settings;
    if (sent === undefined) return random() * oneIn < 1 ? this.#trace(request, ROOT_CONTEXT) : undefined;
    const state = request.header('tracestate');
    const carrier = { traceparent: sent, ...(state !== undefined && { tracestate: state }) };
    const parent = this.#propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
    const isSampled = (trace.getSpanContext(parent)?.traceFlags ?? 0) & TraceFlags.SAMPLED;
    return isSampled ? this.#trace(request, parent) : undefined;
  }

  #trace(request: Request, parent: typeof ROOT_CONTEXT): RequestTrace | undefined {
    const second = Math.floor(this.#settings.clock.monotonic() / 1000);
    if (second !== this.#second) [this.#second, this.#inSecond] = [second, 0];
    if (this.#inSecond >= mostPerSecond) return undefined;
    this.#inSecond += 1;
    const attributes = { 'http.request.method': request.method };
    const span = this.#tracer.startSpan(request.method, { kind: SpanKind.SERVER, attributes }, parent);
    return { end: (route, reply) => endSpan(span, request.method, route, reply) };
  }
}

/** The answer names the span, so that the caller's trace can go on from it (W3C Trace Context, level 2). */
function endSpan(span: Span, method: string, route: string, reply: Reply): Reply {
  const { status, code, headers } = reply;
  span.updateName(`${method} ${route}`);
  span.setAttribute('http.route', route);
  span.setAttribute('http.response.status_code', status);
  if (code !== undefined) span.setAttribute('error.type', code);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
  const { traceId, spanId } = span.spanContext();
  return { ...reply, headers: { ...headers, traceresponse: `00-${traceId}-${spanId}-01` } };
}
