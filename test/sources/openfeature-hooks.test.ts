import { EventHook, MetricsHook, SpanEventHook, SpanHook } from '@openfeature/open-telemetry-hooks';
import { type Hook, InMemoryProvider, OpenFeature } from '@openfeature/server-sdk';
import { context, metrics, trace } from '@opentelemetry/api';
import { logs } from '@opentelemetry/api-logs';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { expect, test } from 'vitest';
import { openShop } from '../ingest/repeated-reports.ts';
import { freshDirectory, prepare, startBinary, usage } from '../support/binary.ts';
import { openLogs, openMetrics, openTraces } from './exporters.ts';

/** OpenFeature's published hooks for OpenTelemetry as clients of the executable. */

const flag = (variants: Record<string, string | boolean | { max: number }>, defaultVariant: string) => ({
  variants,
  defaultVariant,
  disabled: false,
});

/** Installs and returns the SDKs of all signals. */
function openSdks(http: string, key: string) {
  const sdks = {
    logs: openLogs(http, key, 'protobuf'),
    metrics: openMetrics(http, key, 'protobuf'),
    traces: openTraces(http, key, 'protobuf'),
  };
  logs.setGlobalLoggerProvider(sdks.logs);
  metrics.setGlobalMeterProvider(sdks.metrics);
  trace.setGlobalTracerProvider(sdks.traces);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  return Object.values(sdks);
}

/**
 * Evaluates flags of each type with a hook, within a span.
 * @param name name of the hook, which is the prefix of the flag names
 */
async function evaluate(name: string, hook: Hook): Promise<void> {
  const client = OpenFeature.getClient().addHooks(hook);
  const user = { targetingKey: 'user-7' };
  await trace.getTracer('test').startActiveSpan('GET /', async (span) => {
    for (let n = 0; n < 3; n += 1) {
      expect(await client.getBooleanValue(`${name}/checkout`, false, user)).toBe(true);
      expect(await client.getStringValue(`${name}/banner`, '', user)).toBe('b');
      expect(await client.getObjectValue(`${name}/limits`, {}, user)).toEqual({ max: 9 });
      expect(await client.getBooleanValue(`${name}/missing`, false, user)).toBe(false);
    }
    span.end();
  });
}

test("OpenFeature's hooks count each evaluation once, and failed evaluations as errors", async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const { http } = await startBinary({ data });
  const shop = await openShop({ http, credentials }, { acceptClientIdentities: true });
  const sdks = openSdks(http, shop.key);
  const hooks = { EventHook, MetricsHook, SpanEventHook, SpanHook };
  const names = Object.keys(hooks);
  const flags = names.map((name) => ({
    [`${name}/checkout`]: flag({ on: true, off: false }, 'on'),
    [`${name}/banner`]: flag({ blue: 'b', green: 'g' }, 'blue'),
    [`${name}/limits`]: flag({ high: { max: 9 } }, 'high'),
  }));
  await OpenFeature.setProviderAndWait(new InMemoryProvider(Object.assign({}, ...flags)));
  for (const [name, Type] of Object.entries(hooks)) await evaluate(name, new Type());
  await Promise.all(sdks.map((sdk) => sdk.shutdown()));
  const { features } = await usage(http, shop.access, shop.application, {
    environment: 'Production',
    step: 'hour',
    from: new Date(Date.now() - 86_400_000),
    to: new Date(Date.now() + 3_600_000),
  });
  const counted = features.flatMap(({ feature, uniqueUsers, variants }) =>
    variants.map(({ variant, checks }) => [feature, variant, checks, uniqueUsers]),
  );
  // Sums contain no user names.
  const users = (name: string) => (name === 'MetricsHook' ? 0 : 1);
  const expected = names.flatMap((name) => [
    [`${name}/banner`, 'blue', 3, users(name)],
    [`${name}/checkout`, 'on', 3, users(name)],
    [`${name}/limits`, 'high', 3, users(name)],
    [`${name}/missing`, '(error)', 3, users(name)],
  ]);
  expect(counted.toSorted()).toEqual(expected.toSorted());
});
