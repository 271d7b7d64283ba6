import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bytesPerCall } from '../../src/grpc/guard.ts';
import type { GrpcListener, GrpcOptions } from '../../src/ingest/grpc/listener.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { bodyLimit, testDispatch } from '../http/support/routes.ts';
import { openGrpc } from '../support/open-grpc.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  // Wait, because a Node session loops forever if it is destroyed during a read.
  await new Promise((resolve) => setImmediate(resolve));
  for (const close of closers.splice(0).reverse()) await close();
});

interface OpenListener {
  readonly listener: GrpcListener;
  readonly session: ClientHttp2Session;
  /** Advances the clock of the listener. */
  pass(ms: number): void;
}

async function open(options: Partial<GrpcOptions> = {}, window = 1_048_576): Promise<OpenListener> {
  let ahead = 0;
  const clock = { now: systemClock.now, monotonic: () => systemClock.monotonic() + ahead };
  const listener = await openGrpc({ dispatch: testDispatch(() => {}), clock, ...options });
  closers.push(() => listener.close(0));
  const session = connect(`http://127.0.0.1:${listener.port}`, { settings: { initialWindowSize: window } });
  session.on('error', () => {});
  closers.push(() => session.destroy());
  const pass = (ms: number) => {
    ahead += ms;
  };
  return { listener, session, pass };
}

function begin({ session }: OpenListener, headers: OutgoingHttpHeaders) {
  const stream = session.request(headers, { endStream: false });
  stream.on('error', () => {});
  return stream;
}

/** Sends a request, and waits for its response and the end of its stream. */
async function ask(opened: OpenListener, headers: OutgoingHttpHeaders, body?: string | Uint8Array) {
  const stream = begin(opened, headers);
  stream.end(body);
  return readResponse(stream);
}

/** Resolves when the stream is closed or reset. `once` would reject on a reset. */
function waitForClose(stream: ReturnType<typeof begin>): Promise<void> {
  return new Promise((resolve) => stream.once('close', resolve));
}

async function readResponse(stream: ReturnType<typeof begin>) {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = waitForClose(stream);
  const [headers] = await once(stream, 'response');
  await closed;
  const bytes = Buffer.concat(chunks);
  const json = () => JSON.parse(bytes.toString());
  return { status: headers[':status'] as number, headers, bytes, json, reset: stream.rstCode };
}

const post = (path: string, more: OutgoingHttpHeaders = {}) => ({ ':method': 'POST', ':path': path, ...more });

describe('HTTP/2 request', () => {
  test('passes on the method, path, query, headers and address of an HTTP/2 request', async () => {
    const opened = await open({ findAddress: (connected, { header }) => `${connected} by ${typeof header}` });
    const target = '/describe?headers=host,x-twice,cookie,missing';
    const head = { ':method': 'PUT', ':path': target, 'x-twice': ['1', '2'], cookie: ['a=1', 'b=2'] };
    expect((await ask(opened, head)).json()).toEqual({
      method: 'PUT',
      path: '/describe',
      query: 'headers=host,x-twice,cookie,missing',
      remoteAddress: '127.0.0.1 by function',
      headers: [`127.0.0.1:${opened.listener.port}`, '1, 2', 'a=1; b=2', null],
    });
  });

  test.each([
    ['empty', ''],
    ['short', 'häßlich'],
    ['split into several frames', 'a'.repeat(60_000)],
  ])('passes on an HTTP/2 request body that is %s', async (_, body) => {
    const response = await ask(await open(), post('/echo'), body);
    expect([response.status, response.bytes.toString()]).toEqual([200, body]);
    expect(response.headers).toMatchObject({
      'content-length': String(Buffer.byteLength(body)),
      'x-content-type-options': 'nosniff',
      date: expect.any(String),
    });
  });

  test('accepts a compressed HTTP/2 request body', async () => {
    const response = await ask(await open(), post('/echo', { 'content-encoding': 'gzip' }), gzipSync('hello'));
    expect(response.bytes.toString()).toBe('hello');
  });

  test.each([
    ['a declared length', { 'content-length': bodyLimit + 1 }],
    ['no declared length', {}],
  ])('refuses a body that is too large and has %s, while other requests continue', async (_, headers) => {
    const opened = await open();
    const refused = await ask(opened, post('/echo', headers), Buffer.alloc(bodyLimit + 1));
    expect([refused.status, refused.json().code]).toEqual([413, 'body_too_large']);
    expect((await ask(opened, post('/echo'), 'next')).bytes.toString()).toBe('next');
  });

  test.each([
    ['HEAD', '/text', 200, '9'],
    ['GET', '/no-content', 204, undefined],
    ['OPTIONS', '/preflight', 204, undefined],
  ])('an HTTP/2 request %s %s gets a response without a body', async (method, path, status, length) => {
    const response = await ask(await open(), { ':method': method, ':path': path });
    expect([response.status, response.headers['content-length'], response.bytes.length]).toEqual([status, length, 0]);
  });

  test.each([
    ['a path that resolves to another path', { ':path': '/items/../describe' }, 400, 'invalid_path'],
    ['two hosts', { ':path': '/describe', ':authority': 'a', host: 'b' }, 400, 'invalid_head'],
    ['a malformed host', { ':path': '/describe', ':authority': 'a,b' }, 400, 'invalid_head'],
    ['a long head', { ':path': '/describe', 'x-long': 'a'.repeat(16_384) }, 431, undefined],
  ])('refuses an HTTP/2 request with %s', async (_, headers, status, code) => {
    const response = await ask(await open(), headers);
    expect([response.status, code && response.json().code]).toEqual([status, code]);
  });

  test('closes the stream of a request with an unread body after the response', async () => {
    const opened = await open();
    const stream = begin(opened, post('/unread'));
    stream.write('a');
    expect(await readResponse(stream)).toMatchObject({ status: 503, reset: constants.NGHTTP2_NO_ERROR });
  });

  test('resets a stream whose request body is shorter than declared', async () => {
    const opened = await open();
    const stream = begin(opened, post('/echo', { 'content-length': 3 }));
    const closed = waitForClose(stream);
    stream.resume().end('ab');
    await closed;
    expect(stream.rstCode).not.toBe(constants.NGHTTP2_NO_ERROR);
  });

  test('aborts the request body of a client that disconnects', async () => {
    const opened = await open();
    const stream = begin(opened, post('/echo?left'));
    stream.write('a');
    await vi.waitUntil(() => opened.listener.unfinished().calls === 1);
    stream.destroy(new Error('left'));
    await vi.waitUntil(async () => (await ask(opened, { ':path': '/gone' })).json().includes('left'));
    expect(opened.listener.unfinished()).toEqual({ calls: 0, bytes: 0 });
  });
});

describe('HTTP/2 response in chunks', () => {
  const numbersIn = (body: Buffer) =>
    Array.from({ length: body.length / 65_536 }, (_, at) => {
      const chunk = body.subarray(at * 65_536, (at + 1) * 65_536);
      return chunk.equals(Buffer.alloc(65_536, chunk[0]!)) ? chunk[0]! : undefined;
    });

  test('sends all chunks of a response, and then frees the body', async () => {
    const opened = await open();
    const response = await ask(opened, { ':path': '/pieces?whole' });
    expect(numbersIn(response.bytes)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    expect((await ask(opened, { ':path': '/pieces/whole' })).json()).toEqual({ pieces: 20, stops: 1 });
  });

  test('resets the stream if a chunk of the response fails', async () => {
    const opened = await open();
    const response = await ask(opened, { ':path': '/pieces?fails' });
    expect(response.reset).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect((await ask(opened, { ':path': '/pieces/fails' })).json()).toEqual({ pieces: 3, stops: 1 });
  });

  test('sends chunks only while the client reads, and frees the body when the client disconnects', async () => {
    const opened = await open({}, 65_535);
    const stream = begin(opened, { ':path': '/many-pieces?left' });
    stream.end();
    await once(stream, 'response');
    stream.close(constants.NGHTTP2_CANCEL);
    await vi.waitUntil(async () => (await ask(opened, { ':path': '/pieces/left' })).json().stops === 1);
    expect((await ask(opened, { ':path': '/pieces/left' })).json().pieces).toBeLessThan(100);
  });

  test('sends no chunks in the response to HEAD', async () => {
    const opened = await open();
    const response = await ask(opened, { ':method': 'HEAD', ':path': '/pieces?head' });
    expect([response.status, response.bytes.length]).toEqual([200, 0]);
    expect((await ask(opened, { ':path': '/pieces/head' })).json()).toEqual({ pieces: 0, stops: 1 });
  });
});

describe('HTTP/2 guard', () => {
  test('ends an HTTP/2 request whose body arrives too slowly, while other requests continue', async () => {
    const opened = await open();
    const stream = begin(opened, post('/echo'));
    stream.write('a');
    await vi.waitUntil(() => opened.listener.unfinished().bytes > bytesPerCall);
    opened.pass(29_000);
    expect((await ask(opened, post('/echo'), 'quick')).status).toBe(200);
    opened.pass(2_000);
    const response = await readResponse(stream);
    expect([response.status, response.json().code]).toEqual([408, 'body_too_slow']);
  });

  test('refuses the oldest request if too many requests have incomplete bodies', async () => {
    const opened = await open({ maxBytes: 2.5 * bytesPerCall });
    const first = begin(opened, post('/echo'));
    const refused = readResponse(first);
    first.write('a');
    await vi.waitUntil(() => opened.listener.unfinished().calls === 1);
    for (const _ of [1, 2]) begin(opened, post('/echo')).write('a');
    expect((await refused).json().code).toBe('backpressure');
    expect(opened.listener.unfinished().calls).toBe(2);
  });

  test.each([
    ['to a complete request', { ':path': '/text' }],
    ['to a request whose body is not complete', post('/nowhere')],
  ])('resets the stream of an unread response %s', async (_, headers) => {
    const opened = await open({}, 0);
    const stream = begin(opened, headers).resume();
    if (headers[':path'] === '/text') stream.end();
    else stream.write('a');
    const closed = waitForClose(stream);
    await vi.waitUntil(() => opened.listener.unread() === 1);
    opened.pass(31_000);
    await closed;
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
  });
});

describe('TLS', () => {
  const pem = (name: string) => fileURLToPath(new URL(`../http/support/tls/${name}.pem`, import.meta.url));
  const tls = { certFile: pem('cert'), keyFile: pem('key') };
  const text = 'GET /text HTTP/1.1\r\nHost: localhost\r\n\r\n';

  test.each([
    [['http/1.1'], 'HTTP/1.1 200'],
    [undefined, 'HTTP/1.1 200'],
    [['h2'], ''],
  ])('a TLS client with ALPN %j that sends HTTP/1.1 gets %j', async (protocols, firstBytes) => {
    const { listener } = await open({ tls });
    const socket = connectTls({
      port: listener.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ...(protocols && { ALPNProtocols: protocols }),
    });
    socket.on('error', () => {});
    closers.push(() => socket.destroy());
    await once(socket, 'secureConnect');
    socket.write(text);
    const received = once(socket, 'data').then(([part]) => String(part).slice(0, firstBytes.length || undefined));
    expect(await Promise.race([received, once(socket, 'close').then(() => '')])).toBe(firstBytes);
  });

  test('a TLS client with ALPN h2 gets an HTTP/2 response', async () => {
    const { listener } = await open({ tls });
    const session = connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
    closers.push(() => session.destroy());
    const stream = session.request({ ':path': '/text' });
    expect((await once(stream.resume(), 'response'))[0]).toMatchObject({ ':status': 200 });
    expect(session.alpnProtocol).toBe('h2');
  });
});
