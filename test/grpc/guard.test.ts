import { once } from 'node:events';
import { constants } from 'node:http2';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bytesPerCall } from '../../src/grpc/guard.ts';
import type { GrpcListener, GrpcOptions } from '../../src/ingest/grpc/listener.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { openGrpc } from '../support/open-grpc.ts';
import { grpcFrame, openRawGrpc, type RawGrpc, readEnd } from '../support/raw-grpc.ts';
import { RecordingReports } from '../support/recording-reports.ts';
import { encode, usageReport } from '../support/report-messages.ts';

const path = '/Usage.Usage/SendStats';
const check = '/grpc.health.v1.Health/Check';
const watch = '/grpc.health.v1.Health/Watch';
const reflection = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const message = encode('Usage.FeatureStat', usageReport);
const halfSent = grpcFrame(message).subarray(0, -1);

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface OpenListener {
  readonly listener: GrpcListener;
  readonly receiver: RecordingReports;
  readonly address: string;
  connect(window?: number): RawGrpc;
  /** Resolves when the guard holds the given number of incomplete calls, and the given number of bytes. */
  holds(calls: number, bytes: number): Promise<unknown>;
  /** Advances the clock of the listener. */
  pass(ms: number): void;
}

async function open(options: Partial<GrpcOptions> = {}): Promise<OpenListener> {
  let ahead = 0;
  const receiver = new RecordingReports();
  const clock = { now: systemClock.now, monotonic: () => systemClock.monotonic() + ahead };
  const onError = (error: unknown) => expect.unreachable(`${error}`);
  const listener = await openGrpc({ clock, onError, ...options });
  listener.begin({ reportKinds: receiver } as never);
  closers.push(() => listener.close(0));
  const address = `127.0.0.1:${listener.port}`;
  return {
    listener,
    receiver,
    address,
    holds: (calls, bytes) =>
      vi.waitUntil(() => {
        const unfinished = listener.unfinished();
        return unfinished.calls === calls && unfinished.bytes >= bytes + bytesPerCall * calls;
      }),
    pass(ms) {
      ahead += ms;
    },
    connect(window) {
      const raw = openRawGrpc(address, window);
      closers.push(() => raw.close());
      return raw;
    },
  };
}

describe('an incomplete call', () => {
  test.each([
    ['that has sent nothing', undefined],
    ['that lacks a byte', halfSent],
    ['whose stream is not ended', grpcFrame(message)],
  ])('an incomplete call %s is ended after 30 s, and other calls continue', async (_, sent) => {
    const { connect: open1, receiver, pass, holds } = await open();
    const raw = open1();
    const stream = raw.begin(path);
    if (sent !== undefined) stream.write(sent);
    await holds(1, sent?.length ?? 0);
    pass(30_000);
    expect(await readEnd(stream)).toMatchObject({ status: status.DEADLINE_EXCEEDED, code: 'deadline_exceeded' });
    expect(receiver.told).toMatchObject([
      { code: 'deadline_exceeded', ...(sent === undefined ? {} : { route: 'usage', claimed: { appKey: 'a-key' } }) },
    ]);
    const whole = raw.begin(path);
    whole.end(grpcFrame(message));
    expect(await readEnd(whole)).toMatchObject({ status: status.OK });
  });

  test('the oldest incomplete call is ended if all incomplete calls together hold too many bytes', async () => {
    const { connect: open1, receiver } = await open({ maxBytes: 150_000 });
    const raw = open1();
    const streams = [0, 1, 2].map(() => {
      const stream = raw.begin(path);
      stream.write(Buffer.concat([grpcFrame(Buffer.alloc(60_000)).subarray(0, 40_000)]));
      return stream;
    });
    expect(await readEnd(streams[0]!)).toMatchObject({ status: status.UNAVAILABLE, code: 'backpressure' });
    expect(receiver.told).toMatchObject([{ code: 'backpressure' }]);
    expect(streams.slice(1).map(({ closed }) => closed)).toEqual([false, false]);
  });

  test('a cancelled call frees the memory of its incomplete message', async () => {
    const opened = await open();
    const raw = opened.connect();
    const streams = Array.from({ length: 20 }, () => raw.begin(path));
    for (const stream of streams) stream.write(halfSent);
    await opened.holds(20, 20 * halfSent.length);
    for (const stream of streams) stream.close();
    await opened.holds(0, 0);
    expect(opened.listener.unfinished()).toEqual({ calls: 0, bytes: 0 });
  });
});

describe('unread gRPC responses', () => {
  const empty = grpcFrame(Buffer.alloc(0));
  const listServices = grpcFrame(Buffer.from([0x3a, 0])); // A ServerReflectionRequest with an empty list_services.

  test('calls with unread responses are reset after 30 s', async () => {
    const { connect: openWith, listener, pass } = await open();
    const raw = openWith(0);
    const streams = [path, check, watch, reflection, reflection].map((called) => raw.begin(called));
    [grpcFrame(message), empty, empty, listServices].forEach((sent, index) => void streams[index]!.end(sent));
    streams[4]!.write(listServices);
    await vi.waitUntil(() => listener.unread() === 5);
    expect(streams.map(({ closed }) => closed)).toEqual(Array(5).fill(false));
    const closed = streams.map((stream) => once(stream, 'close'));
    pass(30_000);
    await Promise.all(closed);
    expect(streams.map(({ rstCode }) => rstCode)).toEqual(Array(5).fill(constants.NGHTTP2_CANCEL));
    await vi.waitUntil(() => listener.unread() === 0);
    expect(listener.unfinished()).toEqual({ calls: 0, bytes: 0 });
  });

  test('the oldest call is reset if too many calls have unread responses', async () => {
    const { connect: openWith, listener } = await open({ maxBytes: 2 * bytesPerCall });
    const raw = openWith(0);
    const streams: ReturnType<RawGrpc['begin']>[] = [];
    for (let each = 0; each < 3; each += 1) {
      const stream = raw.begin(check);
      streams.push(stream);
      stream.end(empty);
      await once(stream, 'response');
    }
    await once(streams[0]!, 'close');
    await vi.waitUntil(() => listener.unread() === 2);
    expect(streams.map(({ closed }) => closed)).toEqual([true, false, false]);
  });
});

test('a new health watch over the limit ends the oldest watch', async () => {
  const { connect: open1, listener } = await open({ maxWatches: 2 });
  const raw = open1();
  const begin = async () => {
    const stream = raw.begin(watch);
    stream.end(grpcFrame(Buffer.alloc(0)));
    await once(stream, 'data');
    return stream;
  };
  const first = await begin();
  const ended = readEnd(first);
  const others = [await begin(), await begin()];
  expect(await ended).toMatchObject({ status: status.UNAVAILABLE });
  const told = others.map((stream) => once(stream, 'data'));
  listener.setServing(false);
  await Promise.all(told);
});

test('the number of open calls on a connection is limited', async () => {
  const raw = (await open()).connect();
  const [settings] = await once(raw.session, 'remoteSettings');
  expect(settings.maxConcurrentStreams).toBe(32);
});

test('a new connection over the limit closes the connection that was used least recently', async () => {
  const opened = await open({ maxConnections: 3 });
  const clients = [0, 1].map(() => openClient(opened.address, { 'grpc.use_local_subchannel_pool': 1 }));
  closers.push(() => clients.forEach((client) => void client.close()));
  for (const client of clients) expect(await call(client, path, message)).toMatchObject({ code: 0 });
  const idle = [0, 1, 2].map(() => opened.connect());
  const closed = idle.slice(0, 2).map(({ session }) => new Promise<void>((resolve) => session.once('close', resolve)));
  await Promise.all(closed);
  for (const client of clients) expect(await call(client, path, message)).toMatchObject({ code: 0 });
  expect(idle[2]!.session.destroyed).toBe(false);
});

describe('a call refused before its report is read', () => {
  const tooLarge = Buffer.concat([message, Buffer.from('a206d08304', 'hex'), Buffer.alloc(66_000)]);
  test.each([
    ['a message that is too large', grpcFrame(tooLarge), {}, status.RESOURCE_EXHAUSTED, 'body_too_large', true],
    [
      'a message that is too large after decompression',
      grpcFrame(gzipSync(tooLarge), 1),
      { 'grpc-encoding': 'gzip' },
      status.RESOURCE_EXHAUSTED,
      'body_too_large',
      false,
    ],
    [
      'a message that is not gzip',
      grpcFrame(message, 1),
      { 'grpc-encoding': 'gzip' },
      status.INVALID_ARGUMENT,
      'invalid_content_encoding',
      false,
    ],
    [
      'a message with an unknown compression',
      grpcFrame(message, 1),
      { 'grpc-encoding': 'snappy' },
      status.UNIMPLEMENTED,
      'message_compressed',
      false,
    ],
    ['a truncated frame', halfSent, {}, status.INVALID_ARGUMENT, 'invalid_protobuf', true],
    ['no message', Buffer.alloc(0), {}, status.INVALID_ARGUMENT, 'invalid_protobuf', false],
    [
      'two messages',
      Buffer.concat([grpcFrame(message), grpcFrame(message)]),
      {},
      status.INVALID_ARGUMENT,
      'invalid_protobuf',
      undefined,
    ],
    [
      'a malformed deadline',
      grpcFrame(message),
      { 'grpc-timeout': 'soon' },
      status.INVALID_ARGUMENT,
      'invalid_protobuf',
      undefined,
    ],
  ])('the ledger records the refusal of %s', async (_, sent, headers, code, ours, attributed) => {
    const { connect: open1, receiver } = await open();
    const stream = open1().begin(path, { ...headers, ua: 'flags-go/3' });
    stream.end(sent);
    expect(await readEnd(stream)).toMatchObject({ status: code, code: ours });
    expect(receiver.told).toMatchObject([
      {
        code: ours,
        ...(attributed && {
          route: 'usage',
          sender: { transport: 'grpc', userAgent: 'flags-go/3' },
          claimed: { appKey: 'a-key' },
        }),
        ...(attributed === false && { claimed: {} }),
      },
    ]);
    expect(receiver.reports).toEqual([]);
  });
});

describe('HTTP/1.1 on the gRPC port', () => {
  test.each(['POST / HTTP/1.1\r\n\r\n', 'P', 'nonsense', '\u0000'])(
    'a connection that sends %j and disconnects leaves no connection open',
    async (sent) => {
      const { listener, address } = await open();
      const [host, port] = address.split(':');
      const socket = connect(Number(port), host);
      socket.on('error', () => {});
      socket.resume();
      socket.end(sent);
      await once(socket, 'close');
      expect(listener.unfinished()).toEqual({ calls: 0, bytes: 0 });
    },
  );
});
