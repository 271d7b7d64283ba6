import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { openGrpc } from '../support/open-grpc.ts';
import { grpcFrame, openRawGrpc, readEnd } from '../support/raw-grpc.ts';
import { RecordingReports } from '../support/recording-reports.ts';

const minute = 60_000;
const watch = '/grpc.health.v1.Health/Watch';
const noMessage = grpcFrame(Buffer.alloc(0));

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Opens a listener whose clock the test advances, and a connection to it. */
async function open() {
  let ahead = 0;
  const clock = { now: systemClock.now, monotonic: () => systemClock.monotonic() + ahead };
  const listener = await openGrpc({ clock });
  listener.begin({ reportKinds: new RecordingReports() } as never);
  closers.push(() => listener.close(0));
  const raw = openRawGrpc(`127.0.0.1:${listener.port}`);
  closers.push(() => raw.close());
  await once(raw.session, 'remoteSettings');
  const pass = (ms: number) => {
    ahead += ms;
  };
  return { listener, ...raw, pass };
}

/** Starts a watch, which stays open, and waits for its first response. */
async function beginWatch({ begin }: Pick<Awaited<ReturnType<typeof open>>, 'begin'>) {
  const stream = begin(watch);
  stream.end(noMessage);
  await once(stream, 'data');
  return stream;
}

describe('gRPC connection', () => {
  it('a connection without calls is closed after 15 minutes, and its client first gets a GOAWAY', async () => {
    const { session, pass } = await open();
    const told = once(session, 'goaway');
    pass(15 * minute);
    expect((await told)[0]).toBe(0);
    await once(session, 'close');
  });

  it('a connection is closed after an hour, or 30 seconds later if it has open calls', async () => {
    const opened = await open();
    const stream = await beginWatch(opened);
    const told = once(opened.session, 'goaway');
    opened.pass(66 * minute);
    await told;
    expect(stream.closed).toBe(false);
    opened.pass(minute);
    await once(opened.session, 'close');
  });

  it('a connection with a call stays open as long as its client responds to pings', async () => {
    const opened = await open();
    const stream = await beginWatch(opened);
    for (let pings = 0; pings < 8; pings += 1) {
      const pinged = once(opened.session, 'ping');
      opened.pass(2 * minute);
      await pinged;
    }
    expect({ call: stream.closed, connection: opened.session.closed }).toEqual({ call: false, connection: false });
  });

  it('a connection that does not respond to a ping for 20 seconds is closed', async () => {
    const { listener, pass } = await open();
    const socket = await openSilent(listener.port);
    pass(2 * minute);
    await waitForPing(socket);
    pass(20_000);
    await once(socket, 'close');
  });
});

it('the gRPC listener closes after the open calls have ended', async () => {
  const opened = await open();
  const stream = opened.begin('/Usage.Usage/SendStats');
  stream.write(noMessage);
  await vi.waitUntil(() => opened.listener.unfinished().calls === 1, { timeout: minute });
  const told = once(opened.session, 'goaway');
  const closed = opened.listener.close(minute);
  await told;
  stream.end();
  expect(await readEnd(stream)).toMatchObject({ status: 3 });
  await closed;
});

/** Opens a connection that sends only its preface. */
async function openSilent(port: number): Promise<Socket> {
  const socket = connectSocket(port, '127.0.0.1');
  closers.push(() => socket.destroy());
  const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings]));
  await once(socket, 'data');
  return socket;
}

const pingHead = Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0]);

/** Resolves when a PING frame has arrived (RFC 9113 §6.7). */
function waitForPing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => void (chunk.includes(pingHead) && resolve()));
  });
}
