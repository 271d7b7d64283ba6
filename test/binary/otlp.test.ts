import { expect, test, vi } from 'vitest';
import { TestCollector } from '../serve/otlp/collector.ts';
import { startBinary, stop } from '../support/binary.ts';

test('the executable sends a trace to a collector, and exits in time if the collector is unreachable', async () => {
  const collector = await TestCollector.open();
  const args = ['--otlp-endpoint', collector.url, '--otlp-trace-one-in', '1', '--otlp-every', '1'];
  const service = await startBinary({ args });
  const { headers } = await fetch(`http://${service.http}/healthz`);
  const [, traceId = ''] = headers.get('traceresponse')!.split('-');
  const inBase64 = Buffer.from(traceId, 'hex').toString('base64');
  await vi.waitFor(() => {
    expect(JSON.stringify(collector.at('/v1/traces'))).toContain(inBase64);
  });
  collector.close();
  await fetch(`http://${service.http}/healthz`);
  expect(await stop(service)).toEqual({ code: 0, signal: null });
});
