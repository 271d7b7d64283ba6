import { once } from 'node:events';
import { Client, credentials, status } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { GrpcListener } from '../../src/ingest/grpc/listener.ts';
import { call } from '../support/grpc-call.ts';
import { openGrpc } from '../support/open-grpc.ts';

let listener: GrpcListener;
const clients: Client[] = [];
const listeners: GrpcListener[] = [];

beforeEach(async () => {
  listener = await openGrpc();
  listeners.push(listener);
});

afterAll(async () => {
  for (const client of clients) client.close();
  await Promise.all(listeners.map((each) => each.close(0)));
});

const services = [
  '',
  'Usage.Usage',
  'Metrics.Metrics',
  ...['logs.v1.Logs', 'metrics.v1.Metrics', 'trace.v1.Trace'].map(
    (name) => `opentelemetry.proto.collector.${name}Service`,
  ),
];

describe('gRPC health service', () => {
  const health = () => {
    const client = new Client(`127.0.0.1:${listener.port}`, credentials.createInsecure());
    clients.push(client);
    return client;
  };
  const { Check, List, Watch } = healthService as never as Record<'Check' | 'List' | 'Watch', Method>;
  type Method = {
    path: string;
    requestSerialize: (value: object) => Buffer;
    responseDeserialize: (bytes: Buffer) => unknown;
  };
  const ask = async (method: Method, request: object) => {
    const result = await call(health(), method.path, method.requestSerialize(request));
    return result.response === undefined ? result.code : method.responseDeserialize(result.response);
  };

  it.each(services)('reports whether the service `%s` accepts data', async (service) => {
    expect(await ask(Check, { service })).toEqual({ status: 'SERVING' });
    listener.setServing(false);
    expect(await ask(Check, { service })).toEqual({ status: 'NOT_SERVING' });
  });

  it('responds NOT_FOUND for an unknown service', async () => {
    expect(await ask(Check, { service: 'Other' })).toBe(status.NOT_FOUND);
  });

  it('refuses a malformed health check request', async () => {
    const { code } = await call(health(), Check.path, Buffer.from([0x0a]));
    expect(code).toBe(status.INVALID_ARGUMENT);
  });

  it('lists the health of all services', async () => {
    const statuses = Object.fromEntries(services.map((service) => [service, { status: 'SERVING' }]));
    expect(await ask(List, {})).toEqual({ statuses });
  });

  it('reports every change of health to watchers, and ends their watches when the listener closes', async () => {
    const open = (service: string) =>
      health().makeServerStreamRequest(Watch.path, Watch.requestSerialize, Watch.responseDeserialize, { service });
    const seen: unknown[] = [];
    const known = open('').on('data', (response) => seen.push(response));
    const unknown = open('Other').on('data', (response) => seen.push(response));
    await Promise.all([once(known, 'data'), once(unknown, 'data')]);
    listener.setServing(false);
    listener.setServing(false);
    await once(known, 'data');
    const ended = Promise.all([once(known, 'end'), once(unknown, 'end')]);
    await listener.close(60_000);
    await ended;
    expect(seen.toSorted(byStatus)).toEqual([
      { status: 'NOT_SERVING' },
      { status: 'SERVICE_UNKNOWN' },
      { status: 'SERVING' },
    ]);
  });

  const byStatus = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
});
