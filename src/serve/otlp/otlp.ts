import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { version } from '../../../package.json' with { type: 'json' };
import type { RequestTraces } from '../../http/router.ts';
import { readable, readTextFile } from '../../runtime/files.ts';
import type { TraceDelivery } from '../../webhooks/deliverer.ts';
import type { Config } from '../config/config.ts';
import { SampledTraces } from './sampled-traces.ts';
import { type PushDeps, UsagePush } from './usage-push.ts';

/*
 * src/serve/otlp: sends usage, and traces of requests, to an OpenTelemetry collector. This folder is loaded only if a
 * collector is configured.
 */

/** Maximum number of waiting spans. About this many spans are created in five seconds. */
const maxWaitingSpans = 4096;

export interface Collector {
  /** `undefined` if request tracing is off. */
  readonly traces: RequestTraces | undefined;
  /** Starts the span of a webhook delivery, if the delivery is traced. */
  readonly traceDelivery: TraceDelivery | undefined;
  /** Starts sending usage at an interval. @returns a function that stops sending when the current round is complete */
  start(): () => Promise<void>;
  close(): Promise<void>;
}

/** @throws {Error} if the file with the headers cannot be used */
export function connectCollector(core: PushDeps & { readonly config: Config }, endpoint: string): Collector {
  const { config, clock } = core;
  const headers = config.otlpHeadersFile === undefined ? {} : readHeadersFile(config.otlpHeadersFile);
  const exporter = new OTLPMetricExporter({ url: `${endpoint}/v1/metrics`, headers });
  const traceExporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers });
  const processor = new BatchSpanProcessor(traceExporter, { maxQueueSize: maxWaitingSpans });
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
      // Failures are ignored, because an unreachable collector must not delay the exit.
      await Promise.allSettled([traces?.close() ?? processor.shutdown(), exporter.shutdown()]);
    },
  };
}

/** @throws {Error} with the file and the reason, if the file cannot be read or has a line of another form */
export function readHeadersFile(file: string): Record<string, string> {
  const text = readable(file, () => readTextFile(file));
  try {
    return readHeaders(text);
  } catch (error) {
    throw new Error(`Cannot use --otlp-headers-file ${file}: ${(error as Error).message}`);
  }
}

const token = /^[!#$%&'*+.^_`|~\w-]+$/;
const value = /^[\x20-\x7e]*$/;

/**
 * Parses `NAME: VALUE` lines. Skips empty lines and comments, which begin with `#`.
 * @throws {Error} with the number of the line, but without its content
 */
export function readHeaders(text: string): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim();
    const content = line.slice(colon + 1).trim();
    if (colon < 0 || !token.test(name) || !value.test(content)) throw new Error(`line ${at + 1} is not NAME: VALUE`);
    headers.set(name.toLowerCase(), content);
  }
  return Object.fromEntries(headers);
}
