import type { Attributes } from '@opentelemetry/api';
import { OTLPLogExporter as LogsAsJson } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as LogsAsProto } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as MetricsAsJson } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as MetricsAsProto } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as TracesAsJson } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as TracesAsProto } from '@opentelemetry/exporter-trace-otlp-proto';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

/** OpenTelemetry's published exporters with their SDKs, as services use them. */

export type Encoding = 'protobuf' | 'json';

/** A provider of an SDK. */
export interface Sdk {
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** A service that evaluates flags. */
export interface Evaluator extends Sdk {
  /** Evaluates a flag once. */
  evaluate(flag: string): void;
}

const resource = resourceFromAttributes({
  'service.name': 'checkout-api',
  'service.version': '1.4.0',
  'deployment.environment.name': 'production',
});

/** They export when they are flushed or shut down, or a batch is full. */
const scheduledDelayMillis = 3_600_000;
const of = (flag: string): Attributes => ({
  'feature_flag.key': flag,
  'feature_flag.result.variant': 'on',
});

/** The configuration of an exporter. Protobuf is compressed, JSON is not. */
function configOf(http: string, key: string, signal: string, encoding: Encoding) {
  return {
    url: `http://${http}/v1/${signal}`,
    headers: { authorization: `Bearer ${key}` },
    timeoutMillis: 120_000, // A slow machine must not end the repetitions.
    compression: encoding === 'protobuf' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
  };
}

export function openLogs(http: string, key: string, encoding: Encoding): LoggerProvider {
  const config = configOf(http, key, 'logs', encoding);
  const exporter = encoding === 'json' ? new LogsAsJson(config) : new LogsAsProto(config);
  const processor = new BatchLogRecordProcessor({
    exporter,
    scheduledDelayMillis,
    exportTimeoutMillis: 120_000,
  });
  return new LoggerProvider({ resource, processors: [processor] });
}

export function openTraces(http: string, key: string, encoding: Encoding): BasicTracerProvider {
  const config = configOf(http, key, 'traces', encoding);
  const exporter = encoding === 'json' ? new TracesAsJson(config) : new TracesAsProto(config);
  const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis, exportTimeoutMillis: 120_000 });
  return new BasicTracerProvider({ resource, spanProcessors: [processor], forceFlushTimeoutMillis: 120_000 });
}

/** @param encoding sums are cumulative as protobuf, and of delta temporality as JSON */
export function openMetrics(http: string, key: string, encoding: Encoding): MeterProvider {
  const { CUMULATIVE, DELTA } = AggregationTemporality;
  const temporalityPreference = encoding === 'json' ? DELTA : CUMULATIVE;
  const config = { ...configOf(http, key, 'metrics', encoding), temporalityPreference };
  const exporter = encoding === 'json' ? new MetricsAsJson(config) : new MetricsAsProto(config);
  const times = { exportIntervalMillis: scheduledDelayMillis, exportTimeoutMillis: 120_000 };
  return new MeterProvider({
    resource,
    readers: [new PeriodicExportingMetricReader({ exporter, ...times })],
  });
}

const withEvaluate = (sdk: Sdk, evaluate: (flag: string) => void): Evaluator => ({
  evaluate,
  forceFlush: () => sdk.forceFlush(),
  shutdown: () => sdk.shutdown(),
});

/** The signals, each with a service that evaluates flags and exports them as that signal. */
export const signals: Readonly<Record<string, (http: string, key: string, encoding: Encoding) => Evaluator>> =
  {
    logs(http, key, encoding) {
      const provider = openLogs(http, key, encoding);
      const logger = provider.getLogger('flags');
      return withEvaluate(provider, (flag) =>
        logger.emit({ eventName: 'feature_flag.evaluation', attributes: of(flag) }),
      );
    },
    metrics(http, key, encoding) {
      const provider = openMetrics(http, key, encoding);
      const evaluations = provider
        .getMeter('js.openfeature.dev')
        .createCounter('feature_flag.evaluation_success_total');
      return withEvaluate(provider, (flag) => evaluations.add(1, of(flag)));
    },
    traces(http, key, encoding) {
      const provider = openTraces(http, key, encoding);
      const tracer = provider.getTracer('http');
      return withEvaluate(provider, (flag) => {
        const span = tracer.startSpan('GET /');
        span.addEvent('feature_flag.evaluation', of(flag));
        span.end();
      });
    },
  };
