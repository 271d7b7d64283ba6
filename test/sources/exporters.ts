import { Metadata } from '@grpc/grpc-js';
import type { Attributes } from '@opentelemetry/api';
import { OTLPLogExporter as LogsOverGrpc } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPLogExporter as LogsAsJson } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as LogsAsProto } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as MetricsOverGrpc } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as MetricsAsJson } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as MetricsAsProto } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as TracesOverGrpc } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as TracesAsJson } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as TracesAsProto } from '@opentelemetry/exporter-trace-otlp-proto';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

/** OpenTelemetry's published exporters with their SDKs, as services use them. */

/** Encodings of requests over HTTP, and gRPC. */
export type Encoding = 'protobuf' | 'json' | 'grpc';

/** A provider of an OpenTelemetry SDK. */
export interface Sdk {
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

export interface Evaluator extends Sdk {
  evaluate(flag: string): void;
}

const resource = resourceFromAttributes({
  'service.name': 'checkout-api',
  'service.version': '1.4.0',
  'deployment.environment.name': 'production',
});

/** Delay of exports, so long that exporters send only when they are flushed or shut down, or when a batch is full. */
const scheduledDelayMillis = 3_600_000;
const of = (flag: string): Attributes => ({ 'feature_flag.key': flag, 'feature_flag.result.variant': 'on' });

const timeoutMillis = 120_000; // Timeout, long enough that exporters do not stop repeating requests on a slow machine.

/** The configuration of an exporter over HTTP. Protobuf is compressed, JSON is not. */
function createHttpConfig(address: string, key: string, signal: string, encoding: Encoding) {
  return {
    url: `http://${address}/v1/${signal}`,
    headers: { authorization: `Bearer ${key}` },
    timeoutMillis,
    compression: encoding === 'protobuf' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
  };
}

/** The configuration of an exporter over gRPC. */
function createGrpcConfig(address: string, key: string) {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  return { url: `http://${address}`, metadata, timeoutMillis, compression: CompressionAlgorithm.GZIP };
}

export function openLogs(address: string, key: string, encoding: Encoding): LoggerProvider {
  const exporter =
    encoding === 'grpc'
      ? new LogsOverGrpc(createGrpcConfig(address, key))
      : new { json: LogsAsJson, protobuf: LogsAsProto }[encoding](createHttpConfig(address, key, 'logs', encoding));
  const processor = new BatchLogRecordProcessor({ exporter, scheduledDelayMillis, exportTimeoutMillis: 120_000 });
  return new LoggerProvider({ resource, processors: [processor] });
}

export function openTraces(address: string, key: string, encoding: Encoding): BasicTracerProvider {
  const exporter =
    encoding === 'grpc'
      ? new TracesOverGrpc(createGrpcConfig(address, key))
      : new { json: TracesAsJson, protobuf: TracesAsProto }[encoding](
          createHttpConfig(address, key, 'traces', encoding),
        );
  const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis, exportTimeoutMillis: 120_000 });
  return new BasicTracerProvider({ resource, spanProcessors: [processor], forceFlushTimeoutMillis: 120_000 });
}

/** @param encoding determines the temporality of sums, too: delta for JSON, and cumulative otherwise */
export function openMetrics(address: string, key: string, encoding: Encoding): MeterProvider {
  const { CUMULATIVE, DELTA } = AggregationTemporality;
  const temporalityPreference = encoding === 'json' ? DELTA : CUMULATIVE;
  const config = { ...createHttpConfig(address, key, 'metrics', encoding), temporalityPreference };
  const grpcConfig = { ...createGrpcConfig(address, key), temporalityPreference };
  const exporter =
    encoding === 'grpc'
      ? new MetricsOverGrpc(grpcConfig)
      : new { json: MetricsAsJson, protobuf: MetricsAsProto }[encoding](config);
  const times = { exportIntervalMillis: scheduledDelayMillis, exportTimeoutMillis: 120_000 };
  return new MeterProvider({ resource, readers: [new PeriodicExportingMetricReader({ exporter, ...times })] });
}

const withEvaluate = (sdk: Sdk, evaluate: (flag: string) => void): Evaluator => ({
  evaluate,
  forceFlush: () => sdk.forceFlush(),
  shutdown: () => sdk.shutdown(),
});

/** The signals, each with a service that evaluates flags and exports the evaluations as that signal. */
export const signals: Readonly<Record<string, (address: string, key: string, encoding: Encoding) => Evaluator>> = {
  logs(address, key, encoding) {
    const provider = openLogs(address, key, encoding);
    const logger = provider.getLogger('flags');
    return withEvaluate(provider, (flag) =>
      logger.emit({ eventName: 'feature_flag.evaluation', attributes: of(flag) }),
    );
  },
  metrics(address, key, encoding) {
    const provider = openMetrics(address, key, encoding);
    const evaluations = provider.getMeter('js.openfeature.dev').createCounter('feature_flag.evaluation_success_total');
    return withEvaluate(provider, (flag) => evaluations.add(1, of(flag)));
  },
  traces(address, key, encoding) {
    const provider = openTraces(address, key, encoding);
    const tracer = provider.getTracer('http');
    return withEvaluate(provider, (flag) => {
      const span = tracer.startSpan('GET /');
      span.addEvent('feature_flag.evaluation', of(flag));
      span.end();
    });
  },
};
