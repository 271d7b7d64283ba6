/*
 * Sends usage, and traces of requests, to an OpenTelemetry collector. Only `connectCollector` loads the packages, and nothing calls it
 * when no collector is configured.
 */
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { version } from '../../../package.json' with { type: 'json' };
import type { RequestTraces } from '../../http/traced.ts';
import { readTextFile } from '../../runtime/text-file.ts';
import type { TraceDelivery } from '../../webhooks/deliverer.ts';
import type { Core } from '../core.ts';
import { readHeaders } from './headers.ts';
import { SampledTraces } from './sampled-traces.ts';
import { UsagePush } from './usage-push.ts';

/** Spans in memory, of five seconds and some more. */
const mostWaitingSpans = 4096;

/** The way to a collector. */
export interface Collector {
  /** What traces requests; `undefined` when none are. */
  readonly traces: RequestTraces | undefined;
  /** Begins the span of a webhook's delivery, if that is traced. */
  readonly traceDelivery: TraceDelivery | undefined;
  /** Sends usage from time to time. @returns ends that, when what is under way is sent */
  start(): () => Promise<void>;
  /** Sends the traces that wait. */
  close(): Promise<void>;
}

/** @throws {Error} when the file with the headers cannot be used */
export function connectCollector(core: Core, endpoint: string): Collector {
  const { config, clock } = core;
  const headers = config.otlpHeadersFile === undefined ? {} : headersIn(config.otlpHeadersFile);
  const exporter = new OTLPMetricExporter({ url: `${endpoint}/v1/metrics`, headers });
  const traceExporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers });
  const processor = new BatchSpanProcessor(traceExporter, { maxQueueSize: mostWaitingSpans });
  const resource = resourceFromAttributes({ 'service.name': 'flagmeter', 'service.version': version });
  const { otlpTraceOneIn: oneIn } = config;
  const traces = oneIn === 0 ? undefined : new SampledTraces({ processor, resource, oneIn, clock });
  const push = new UsagePush(core, exporter);
  return {
    traces: traces?.requests,
    traceDelivery:
      traces &&
      (({ id, webhookId, cause }) =>
        traces.delivery(cause, { 'flagmeter.webhook.id': webhookId, 'flagmeter.delivery.id': id })),
    start: () => (config.otlpEvery === 0 ? async () => {} : push.start(config.otlpEvery * 1000)),
    async close() {
      // A collector that is away must not hold up the end.
      await Promise.allSettled([traces?.close() ?? processor.shutdown(), exporter.shutdown()]);
    },
  };
}

function headersIn(file: string): Record<string, string> {
  try {
    return readHeaders(readTextFile(file));
  } catch (error) {
    throw new Error(`Cannot use --otlp-headers-file ${file}: ${(error as Error).message}`);
  }
}
