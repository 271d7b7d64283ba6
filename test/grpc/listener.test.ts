import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, credentials, status } from '@grpc/grpc-js';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import type { RefusalCode } from '../../src/contract/refusals.ts';
import { decodeMetrics, decodeUsage } from '../../src/ingest/formats/reports/json.ts';
import type { GrpcListener } from '../../src/ingest/grpc/listener.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { openGrpc } from '../support/open-grpc.ts';
import { RecordingReports } from '../support/recording-reports.ts';
import { decode, encode, metricsReport, usageReport } from '../support/report-messages.ts';
import { readRetryInfo } from '../support/retry-info.ts';

const maxReport = 65_536;
const sendStats = '/Usage.Usage/SendStats';
const sendMetrics = '/Metrics.Metrics/SendMetrics';
const usageMessage = encode('Usage.FeatureStat', usageReport);
const metricsMessage = encode('Metrics.MetricStat', metricsReport);

let receiver: RecordingReports;
let errors: unknown[];
/** Milliseconds by which each read of the clock advances it. */
let clockStep = 0;
let listener: GrpcListener;
const clients: Client[] = [];
const listeners: GrpcListener[] = [];

function connect(options = {}): Client {
  const client = openClient(`127.0.0.1:${listener.port}`, options);
  clients.push(client);
  return client;
}

beforeEach(async () => {
  receiver = new RecordingReports();
  errors = [];
  clockStep = 0;
  let ahead = 0;
  const monotonic = () => {
    ahead += clockStep;
    return systemClock.monotonic() + ahead;
  };
  const clock = { ...systemClock, monotonic };
  const onError = (error: unknown) => void errors.push(error);
  listener = await openGrpc({ clock, onError });
  listener.begin({ reportKinds: receiver } as never);
  listeners.push(listener);
});

afterAll(async () => {
  for (const client of clients) client.close();
  await Promise.all(listeners.map((each) => each.close(0)));
});

describe('gRPC report', () => {
  it('a usage report over gRPC gets a response with the number of its entries', async () => {
    const { code, response } = await call(connect({ 'grpc.primary_user_agent': 'sdk/1' }), sendStats, usageMessage);
    expect(code).toBe(0);
    expect(decode('Usage.StatResult', response!)).toEqual({ featureCount: 2 });
    const [{ report, sender }] = receiver.reports as [(typeof receiver.reports)[0]];
    expect(report).toEqual(decodeUsage(JSON.stringify(usageReport)));
    expect(sender).toMatchObject({ transport: 'grpc', userAgent: expect.stringMatching(/^sdk\/1 grpc-node-js/) });
  });

  it('a metrics report over gRPC gets a response with the number of its `stats`', async () => {
    const metadata = { 'idempotency-key': 'once' };
    const { code, response } = await call(connect(), sendMetrics, metricsMessage, { metadata });
    expect(code).toBe(0);
    expect(decode('Metrics.MetricResult', response!)).toEqual({ count: 1 });
    expect(receiver.reports).toMatchObject([
      { report: decodeMetrics(JSON.stringify(metricsReport)), sender: { idempotencyKey: 'once' } },
    ]);
  });

  it('a report without entries over gRPC gets a response with the number 0', async () => {
    const { response } = await call(connect(), sendStats, encode('Usage.FeatureStat', { ...usageReport, stats: [] }));
    expect(decode('Usage.StatResult', response!)).toEqual({ featureCount: 0 });
  });

  it('a compressed report over gRPC is accepted', async () => {
    const { code } = await call(connect({ 'grpc.default_compression_algorithm': 2 }), sendStats, usageMessage);
    expect({ code, reports: receiver.reports.length }).toEqual({ code: 0, reports: 1 });
  });
});

describe('listenGrpc', () => {
  it('listenGrpc serves over TLS if it has a certificate', async () => {
    const folder = join(import.meta.dirname, '../http/support/tls');
    const tls = { certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` };
    const secure = await openGrpc({ tls });
    secure.begin({ reportKinds: receiver } as never);
    listeners.push(secure);
    const trusting = credentials.createSsl(readFileSync(tls.certFile));
    const client = new Client(`localhost:${secure.port}`, trusting);
    clients.push(client);
    expect(await call(client, sendStats, usageMessage)).toMatchObject({ code: 0 });
    const plain = openClient(`127.0.0.1:${secure.port}`);
    clients.push(plain);
    expect(await call(plain, sendStats, usageMessage)).toMatchObject({ code: status.UNAVAILABLE });
  });

  it('listenGrpc fails with the address that cannot be bound and the reason, and prints nothing', async () => {
    const written = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { port } = listener;
    await expect(openGrpc({ port })).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}: the address is in use`);
    await expect(openGrpc({ host: 'nowhere.invalid', port })).rejects.toThrow(
      `Cannot listen on nowhere.invalid:${port}: the host name cannot be resolved`,
    );
    expect(written).not.toHaveBeenCalled();
    written.mockRestore();
  });
});

describe('refused gRPC call', () => {
  it.each<[RefusalCode, number, string]>([
    ['invalid_name', 400, 'INVALID_ARGUMENT'],
    ['unauthorized', 401, 'UNAUTHENTICATED'],
    ['forbidden', 403, 'PERMISSION_DENIED'],
    ['unknown_key', 404, 'NOT_FOUND'],
    ['unknown_environment', 404, 'NOT_FOUND'],
    ['body_too_large', 413, 'RESOURCE_EXHAUSTED'],
    ['rate_limited', 429, 'RESOURCE_EXHAUSTED'],
    ['message_compressed', 501, 'UNIMPLEMENTED'],
    ['backpressure', 503, 'UNAVAILABLE'],
    ['store_unavailable', 503, 'UNAVAILABLE'],
    ['deadline_exceeded', 504, 'DEADLINE_EXCEEDED'],
  ])('a call refused with %s (%i) ends as %s', async (code, httpStatus, name) => {
    receiver.refusal = new Refusal(code, 'because of 100 % ünlucky \ud800 luck');
    expect((receiver.refusal as Refusal).status).toBe(httpStatus);
    const result = await call(connect(), sendStats, usageMessage);
    expect(result).toMatchObject({
      code: status[name as keyof typeof status],
      details: 'because of 100 % ünlucky \ufffd luck',
    });
    expect(result.trailers.get('flagmeter-code')).toEqual([code]);
    expect(result.trailers.get('grpc-status-details-bin')).toEqual([]);
  });

  it.each([
    ['rate_limited', 8],
    ['backpressure', 14],
  ] as const)('a call refused with %s gets a retry delay', async (code, number) => {
    receiver.refusal = new Refusal(code, 'later', 299.2);
    const { trailers } = await call(connect(), sendMetrics, metricsMessage);
    const [details] = trailers.get('grpc-status-details-bin') as [Buffer];
    expect(readRetryInfo(details)).toEqual({ code: number, message: 'later', seconds: 300 });
  });

  it('a call that arrives while the service accepts no data is refused before its message is read', async () => {
    receiver.closed = new Refusal('backpressure', 'full', 2);
    const { code, trailers } = await call(connect(), sendStats, Buffer.from('no message'));
    expect({ code, trailer: trailers.get('flagmeter-code') }).toEqual({ code: 14, trailer: ['backpressure'] });
  });

  it.each([
    ['that is truncated', usageMessage.subarray(0, -1), 'invalid_protobuf'],
    ['without a time', encode('Usage.FeatureStat', { ...usageReport, time: null }), 'invalid_time'],
    ['without a key', encode('Usage.FeatureStat', { ...usageReport, appKey: '' }), 'invalid_body'],
  ])('a call with a message %s ends as INVALID_ARGUMENT', async (_, message, code) => {
    const result = await call(connect(), sendStats, message);
    expect(result.code).toBe(status.INVALID_ARGUMENT);
    expect(result.trailers.get('flagmeter-code')).toEqual([code]);
    expect(receiver.reports).toEqual([]);
  });

  it('a failed gRPC call does not reveal the cause', async () => {
    receiver.refusal = new Error('a secret');
    const result = await call(connect(), sendStats, usageMessage);
    expect(result).toMatchObject({ code: status.INTERNAL, details: expect.not.stringContaining('secret') });
    expect(errors).toEqual([receiver.refusal]);
  });

  it('a call whose deadline has passed is not counted', async () => {
    clockStep = 120_000;
    const options = { deadline: systemClock.now() + 60_000 };
    const result = await call(connect(), sendStats, usageMessage, { options });
    expect(result.code).toBe(status.DEADLINE_EXCEEDED);
    expect(receiver.reports).toEqual([]);
    expect(receiver.told).toMatchObject([{ code: 'deadline_exceeded', claimed: { appKey: 'a-key' } }]);
  });

  it.each([
    ['', {}],
    [' after decompression', { 'grpc.default_compression_algorithm': 2 }],
  ])('a call whose message is too large%s ends as RESOURCE_EXHAUSTED', async (_, options) => {
    const message = Buffer.alloc(8 * 1024 * 1024);
    const result = await call(connect(options), sendStats, message);
    expect(result.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(receiver.reports).toEqual([]);
  });

  it('the largest accepted message has exactly the maximum size', async () => {
    const padded = (length: number) =>
      Buffer.concat([usageMessage, Buffer.from([0xa2, 0x06, ...lengthBytes(length)]), Buffer.alloc(length)]);
    const room = maxReport - usageMessage.length - 5;
    expect(padded(room)).toHaveLength(maxReport);
    expect(await call(connect(), sendStats, padded(room))).toMatchObject({ code: 0 });
    const larger = await call(connect(), sendStats, padded(room + 1));
    expect(larger.code).toBe(status.RESOURCE_EXHAUSTED);
    expect(larger.trailers.get('flagmeter-code')).toEqual(['body_too_large']);
  });

  it('a gRPC call during startup gets a retryable status', async () => {
    const starting = await openGrpc();
    listeners.push(starting);
    const client = openClient(`127.0.0.1:${starting.port}`);
    clients.push(client);
    const { code, trailers } = await call(client, sendStats, usageMessage);
    expect({ code, ours: trailers.get('flagmeter-code') }).toEqual({
      code: status.UNAVAILABLE,
      ours: ['store_unavailable'],
    });
  });

  it('a call of an unknown gRPC method ends as UNIMPLEMENTED', async () => {
    expect(await call(connect(), '/Usage.Usage/Nothing', usageMessage)).toMatchObject({ code: status.UNIMPLEMENTED });
  });
});

/** Encodes a length as a varint of three bytes. */
function lengthBytes(length: number): number[] {
  return [(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
}
