import { gzipSync } from 'node:zlib';
import { toJson } from '@bufbuild/protobuf';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import type { RefusalCode } from '../../src/contract/refusals.ts';
import { routesFrom } from '../../src/http/endpoint.ts';
import { loadHttpEngine } from '../../src/http/engines/runtime.ts';
import { createRouter } from '../../src/http/router.ts';
import type { Dispatch, Listener } from '../../src/http/types.ts';
import { grpcWeb } from '../../src/ingest/formats/reports/grpc-web.ts';
import { decodeMetrics, decodeUsage } from '../../src/ingest/formats/reports/json.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { callByWeb } from '../support/grpc-web-client.ts';
import { RecordingReports } from '../support/recording-reports.ts';
import { decode, encode, metricsReport, parseMessage, registry, usageReport } from '../support/report-messages.ts';
import { readRetryInfo } from '../support/retry-info.ts';

const maxReport = 4096;
const usageService = registry.getService('Usage.Usage')!;
const metricsService = registry.getService('Metrics.Metrics')!;
const usageMessage = encode('Usage.FeatureStat', usageReport);

let listener: Listener;
let url: string;
let receiver: RecordingReports;
let errors: unknown[];
let dispatch: Dispatch;

beforeAll(async () => {
  const engine = await loadHttpEngine();
  listener = await engine.listen({ host: '127.0.0.1', port: 0, dispatch: (request) => dispatch(request) });
  url = `http://127.0.0.1:${listener.port}`;
});

beforeEach(() => {
  receiver = new RecordingReports();
  errors = [];
  const onError = (error: unknown) => void errors.push(error);
  dispatch = createRouter(routesFrom([grpcWeb], { reportKinds: receiver, clock: systemClock, maxReport, onError }));
});

afterAll(() => listener.close(0));

describe('gRPC-Web report, sent by Connect', () => {
  it('a usage report over gRPC-Web gets a response with the number of its entries', async () => {
    const headers = { 'user-agent': 'sdk/1', 'idempotency-key': 'once' };
    const { response } = await callByWeb(url, usageService, parseMessage('Usage.FeatureStat', usageReport), {
      headers,
    });
    expect(toJson(registry.getMessage('Usage.StatResult')!, response!)).toEqual({ featureCount: 2 });
    expect(receiver.reports).toEqual([
      {
        report: decodeUsage(JSON.stringify(usageReport)),
        sender: { transport: 'grpc-web', userAgent: 'sdk/1', idempotencyKey: 'once' },
      },
    ]);
  });

  it('a metrics report over gRPC-Web gets a response with the number of its `stats`', async () => {
    const message = parseMessage('Metrics.MetricStat', metricsReport);
    const { response } = await callByWeb(url, metricsService, message, { timeoutMs: 60_000 });
    expect(toJson(registry.getMessage('Metrics.MetricResult')!, response!)).toEqual({ count: 1 });
    expect(receiver.reports).toMatchObject([{ report: decodeMetrics(JSON.stringify(metricsReport)) }]);
  });

  it.each<[RefusalCode, string]>([
    ['invalid_time', 'InvalidArgument'],
    ['unknown_environment', 'NotFound'],
    ['body_too_large', 'ResourceExhausted'],
    ['rate_limited', 'ResourceExhausted'],
    ['backpressure', 'Unavailable'],
  ])('a report over gRPC-Web that is refused with %s ends as %s', async (code, status) => {
    receiver.refusal = new Refusal(code, '100 % ünlucky\r\ngrpc-status: 0', 1.5);
    const result = await callByWeb(url, usageService, parseMessage('Usage.FeatureStat', usageReport));
    expect(result).toMatchObject({ status, message: '100 % ünlucky\r\ngrpc-status: 0' });
    expect(result.trailers.get('flagmeter-code')).toBe(code);
    const details = Buffer.from(result.trailers.get('grpc-status-details-bin')!, 'base64');
    expect(readRetryInfo(details).seconds).toBe(2);
  });

  it('a failed report over gRPC-Web does not reveal the cause', async () => {
    receiver.refusal = new Error('a secret');
    const result = await callByWeb(url, usageService, parseMessage('Usage.FeatureStat', usageReport));
    expect(result).toMatchObject({ status: 'Internal', message: expect.not.stringContaining('secret') });
    expect(errors).toEqual([receiver.refusal]);
  });
});

function frame(message: Uint8Array, flag = 0): Buffer {
  const header = Buffer.from([flag, 0, 0, 0, 0]);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

function post(body: Uint8Array | string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/Usage.Usage/SendStats`, {
    method: 'POST',
    headers: { 'content-type': 'application/grpc-web', ...headers },
    body: typeof body === 'string' ? body : Buffer.from(body),
  });
}

/** Splits a response into its message, if it has one, and its trailers. */
function splitFrames(body: Buffer): { message: Buffer | undefined; trailers: string } {
  const end = 5 + body.readUInt32BE(1);
  const content = body.subarray(5, end);
  if (body[0] === 0x80) {
    expect(body).toHaveLength(end);
    return { message: undefined, trailers: content.toString() };
  }
  expect(body[0]).toBe(0);
  return { ...splitFrames(body.subarray(end)), message: content };
}

async function readTrailers(response: Response): Promise<string> {
  return splitFrames(Buffer.from(await response.arrayBuffer())).trailers;
}

describe('gRPC-Web', () => {
  it.each(['application/grpc-web', 'application/grpc-web+proto', 'Application/gRPC-Web; charset=utf-8'])(
    'accepts the content type %s and responds in binary',
    async (contentType) => {
      const response = await post(frame(usageMessage), { 'content-type': contentType });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/grpc-web+proto');
      const { message, trailers } = splitFrames(Buffer.from(await response.arrayBuffer()));
      expect(decode('Usage.StatResult', message!)).toEqual({ featureCount: 2 });
      expect(trailers).toBe('grpc-status: 0\r\n');
    },
  );

  const whole = frame(usageMessage).toString('base64');
  const chunks = [frame(usageMessage).subarray(0, 5), usageMessage.subarray(0, 7), usageMessage.subarray(7)];
  it.each([
    ['application/grpc-web-text', 'one segment', whole],
    [
      'application/grpc-web-text+proto',
      'several padded segments',
      chunks.map((each) => each.toString('base64')).join(''),
    ],
  ])('accepts the content type %s with %s and responds in base64', async (contentType, _, body) => {
    const response = await post(body, { 'content-type': contentType });
    expect(response.headers.get('content-type')).toBe('application/grpc-web-text+proto');
    const { message, trailers } = splitFrames(Buffer.from(await response.text(), 'base64'));
    expect(decode('Usage.StatResult', message!)).toEqual({ featureCount: 2 });
    expect(trailers).toBe('grpc-status: 0\r\n');
    expect(receiver.reports).toMatchObject([{ report: decodeUsage(JSON.stringify(usageReport)) }]);
  });

  it('accepts a gRPC-Web request with a compressed body', async () => {
    const response = await post(gzipSync(frame(usageMessage)), { 'content-encoding': 'gzip' });
    expect(await readTrailers(response)).toBe('grpc-status: 0\r\n');
  });

  it.each(['application/json', 'application/grpc', 'application/grpc-web+json', 'application/grpc-webby', ''])(
    'responds to the content type `%s` with 415',
    async (contentType) => {
      const response = await post(frame(usageMessage), { 'content-type': contentType });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({ code: 'unsupported_media_type' });
    },
  );

  it.each([
    ['no frame', Buffer.alloc(0)],
    ['a frame truncated in its head', Buffer.from([0, 0, 0])],
    ['a truncated frame', frame(usageMessage).subarray(0, -1)],
    ['a frame with a length of 4 GiB', Buffer.from([0, 255, 255, 255, 255, 1])],
    ['two messages', Buffer.concat([frame(usageMessage), frame(usageMessage)])],
    ['trailers only', frame(Buffer.from('a: b'), 0x80)],
    ['a malformed message', frame(Buffer.from('{}'))],
  ])('refuses a gRPC-Web body of %s with INVALID_ARGUMENT', async (_, body) => {
    const response = await post(body);
    expect(response.status).toBe(200);
    expect(await readTrailers(response)).toMatch(
      /^grpc-status: 3\r\ngrpc-message: .+\r\nflagmeter-code: invalid_protobuf\r\n$/,
    );
    expect(receiver.reports).toEqual([]);
  });

  it.each(['not base64!', 'AAAAAAA', 'AAA=A', '====', 'AA=='.repeat(200)])('refuses the base64 %s', async (body) => {
    const response = await post(body, { 'content-type': 'application/grpc-web-text' });
    const { trailers } = splitFrames(Buffer.from(await response.text(), 'base64'));
    expect(trailers).toContain('grpc-status: 3\r\n');
  });

  it.each([
    ['with grpc-encoding', { 'grpc-encoding': 'gzip' }],
    ['without grpc-encoding', {}],
  ])('accepts a compressed gRPC-Web message %s', async (_, headers) => {
    const trailers = await readTrailers(await post(frame(gzipSync(usageMessage), 1), headers));
    expect(trailers).toBe('grpc-status: 0\r\n');
    expect(receiver.reports).toMatchObject([{ report: decodeUsage(JSON.stringify(usageReport)) }]);
  });

  it.each([
    ['that has an unknown encoding', { 'grpc-encoding': 'snappy' }, usageMessage, 12, 'message_compressed'],
    ['that is truncated', {}, gzipSync(usageMessage).subarray(0, -1), 3, 'invalid_content_encoding'],
    ['that is too large', {}, gzipSync(Buffer.alloc(maxReport + 1)), 8, 'body_too_large'],
  ])('refuses a compressed gRPC-Web message %s', async (_, headers, message, status, code) => {
    const trailers = await readTrailers(await post(frame(message, 1), headers));
    expect(trailers).toContain(`grpc-status: ${status}\r\n`);
    expect(trailers).toContain(`flagmeter-code: ${code}\r\n`);
    expect(receiver.told).toMatchObject([{ code }]);
  });

  it('identifies the sender of a gRPC-Web report by the header UA', async () => {
    await post(frame(usageMessage), { ua: 'flags-dotnet/2', 'user-agent': 'grpc-dotnet' });
    expect(receiver.reports).toMatchObject([{ sender: { userAgent: 'flags-dotnet/2' } }]);
  });

  it.each([
    ['application/grpc-web', (message: Buffer) => frame(message)],
    ['application/grpc-web-text', (message: Buffer) => frame(message).toString('base64')],
  ])('accepts a message of the maximum size as %s, and refuses a larger message', async (contentType, body) => {
    const room = maxReport - usageMessage.length - 4;
    const padded = (length: number) =>
      Buffer.concat([
        usageMessage,
        Buffer.from([0xa2, 0x06, (length & 0x7f) | 0x80, length >> 7]),
        Buffer.alloc(length),
      ]);
    const readResponse = async (message: Buffer) => {
      const response = Buffer.from(await (await post(body(message), { 'content-type': contentType })).arrayBuffer());
      return splitFrames(contentType.includes('text') ? Buffer.from(response.toString(), 'base64') : response).trailers;
    };
    expect(padded(room)).toHaveLength(maxReport);
    expect(await readResponse(padded(room))).toBe('grpc-status: 0\r\n');
    expect(await readResponse(padded(room + 1))).toContain('grpc-status: 8\r\n');
    expect(receiver.reports).toHaveLength(1);
  });

  it.each([
    ['0m', 4],
    ['99999999H', 0],
    ['soon', 3],
  ])('applies the grpc-timeout %s of a gRPC-Web call', async (timeout, status) => {
    const trailers = await readTrailers(await post(frame(usageMessage), { 'grpc-timeout': timeout }));
    expect(trailers).toContain(`grpc-status: ${status}\r\n`);
    expect(receiver.reports).toHaveLength(status === 0 ? 1 : 0);
  });

  it('refuses gRPC-Web calls before reading them while no data can be accepted', async () => {
    receiver.closed = new Refusal('store_unavailable', 'full', 5);
    expect(await readTrailers(await post('x'))).toContain('grpc-status: 14\r\n');
  });

  it('sends no CORS headers in responses to gRPC-Web calls and their preflights', async () => {
    const headers = { origin: 'https://app.example.com' };
    const preflight = await fetch(`${url}/Usage.Usage/SendStats`, { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(204);
    for (const response of [preflight, await post(frame(usageMessage), headers)]) {
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});
