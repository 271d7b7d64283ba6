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
import type { RequestTrace, RequestTraces } from '../../http/traced.ts';
import type { Reply, Request } from '../../http/types.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { PartOfSpan } from '../../runtime/spans.ts';
import { TracedSpan } from './traced-span.ts';

interface TraceSettings {
  readonly processor: SpanProcessor;
  readonly resource: Resource;
  /** Of how many requests without a `traceparent` one is traced. */
  readonly oneIn: number;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
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

  /**
   * Begins the delivery of a webhook: a part of the trace of the request that has caused it, and where there is none, one that is
   * traced by chance.
   */
  delivery(cause: string | undefined, attributes: PartOfSpan['attributes']): TracedSpan | undefined {
    const parent = cause === undefined ? this.#byChance() : this.#goingOn(cause, undefined);
    return parent && this.#start('POST webhook', SpanKind.CLIENT, { ...attributes }, parent)?.traced;
  }

  #begin(request: Request): RequestTrace | undefined {
    const { method } = request;
    const sent = request.header('traceparent');
    const parent = sent === undefined ? this.#byChance() : this.#goingOn(sent, request.header('tracestate'));
    if (parent === undefined) return undefined;
    const begun = this.#start(method, SpanKind.SERVER, { 'http.request.method': method }, parent);
    if (begun === undefined) return undefined;
    const { span, traced } = begun;
    return { span: traced, end: (route, reply) => endSpan(span, traced, method, route, reply) };
  }

  #byChance(): Context | undefined {
    const { oneIn, random = Math.random } = this.#settings;
    return random() * oneIn < 1 ? ROOT_CONTEXT : undefined;
  }

  /** The trace of a `traceparent`, when it is sampled. */
  #goingOn(traceparent: string, tracestate: string | undefined): Context | undefined {
    const carrier = { traceparent, ...(tracestate !== undefined && { tracestate }) };
    const parent = this.#propagator.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
    const isSampled = (trace.getSpanContext(parent)?.traceFlags ?? 0) & TraceFlags.SAMPLED;
    return isSampled ? parent : undefined;
  }

  #start(name: string, kind: SpanKind, attributes: Attributes, parent: Context) {
    const { clock } = this.#settings;
    const [began, since] = [clock.now(), clock.monotonic()];
    const second = Math.floor(since / 1000);
    if (second !== this.#second) [this.#second, this.#inSecond] = [second, 0];
    if (this.#inSecond >= mostPerSecond) return undefined;
    this.#inSecond += 1;
    const span = this.#tracer.startSpan(name, { kind, attributes, startTime: began }, parent);
    const now = () => began + clock.monotonic() - since;
    return { span, traced: new TracedSpan(this.#tracer, span, now) };
  }
}

/** The answer names the span, so that the caller's trace can go on from it (W3C Trace Context, level 2). */
function endSpan(span: Span, traced: TracedSpan, method: string, route: string, reply: Reply): Reply {
  const { status, code, headers } = reply;
  span.updateName(`${method} ${route}`);
  span.setAttribute('http.route', route);
  span.setAttribute('http.response.status_code', status);
  if (code !== undefined) span.setAttribute('error.type', code);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  traced.end();
  return { ...reply, headers: { ...headers, traceresponse: traced.traceparent } };
}
