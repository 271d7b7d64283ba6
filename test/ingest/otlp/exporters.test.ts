import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, expect, test } from 'vitest';
import { cleanUp } from '../../support/binary.ts';
import type { LocalService } from '../../support/service.ts';
import { checks, openShop, type Shop, withService } from '../repeated-reports.ts';

/** The published exporters of OpenTelemetry for JavaScript, as clients. */

afterAll(cleanUp);

const resource = resourceFromAttributes({
  'service.name': 'checkout-api',
  'service.version': '1.4.0',
  'deployment.environment.name': 'production',
});

const to = ({ http }: LocalService, { key }: Shop, signal: string) => ({
  url: `http://${http}/v1/${signal}`,
  headers: { authorization: `Bearer ${key}` },
});

test.each([
  ['cumulative', AggregationTemporality.CUMULATIVE],
  ['delta', AggregationTemporality.DELTA],
])('the metrics exporter with %s temporality counts each evaluation once', (_, temporalityPreference) =>
  withService(async (service) => {
    const shop = await openShop(service);
    const exporter = new OTLPMetricExporter({ ...to(service, shop, 'metrics'), temporalityPreference });
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const provider = new MeterProvider({ resource, readers: [reader] });
    const meter = provider.getMeter('js.openfeature.dev');
    const success = meter.createCounter('feature_flag.evaluation_success_total');
    const requests = meter.createCounter('feature_flag.evaluation_requests_total');
    const active = meter.createUpDownCounter('feature_flag.evaluation_active_count');
    for (const evaluations of [5, 3, 0, 4]) {
      for (let n = 0; n < evaluations; n += 1) {
        requests.add(1, { 'feature_flag.key': 'checkout' });
        active.add(1);
        const reason = n % 2 === 0 ? 'STATIC' : 'TARGETING_MATCH';
        success.add(1, { 'feature_flag.key': 'checkout', 'feature_flag.result.variant': 'on', reason });
      }
      await provider.forceFlush();
    }
    await provider.shutdown();
    expect(await checks(service, shop)).toBe(12);
  }),
);

test('the trace exporter counts the span events of evaluations', () =>
  withService(async (service) => {
    const shop = await openShop(service);
    const processor = new BatchSpanProcessor(new OTLPTraceExporter(to(service, shop, 'traces')));
    const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
    const tracer = provider.getTracer('test');
    for (let n = 0; n < 700; n += 1) {
      const span = tracer.startSpan('GET /');
      span.addEvent('feature_flag.evaluation', {
        'feature_flag.key': 'checkout',
        'feature_flag.result.variant': 'on',
        'feature_flag.context.id': `user-${n}`,
      });
      span.addEvent('exception', { 'exception.message': 'none' });
      span.end();
    }
    await provider.forceFlush();
    await provider.shutdown();
    expect(await checks(service, shop)).toBe(700);
  }));
