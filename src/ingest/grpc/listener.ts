import { performServerHandshake } from 'node:http2';
import { Refusal } from '../../contract/errors.ts';
import { GrpcAcceptor } from '../../grpc/acceptor.ts';
import type { Call, Method } from '../../grpc/call.ts';
import { CallTotals } from '../../grpc/call-totals.ts';
import { GrpcGuard } from '../../grpc/guard.ts';
import { Http1Forwarder } from '../../grpc/http1-forwarder.ts';
import { attemptsHeader, checkDeadline, isRetry, toRpcStatus } from '../../grpc/protocol.ts';
import { reflectionMethods } from '../../grpc/reflection.ts';
import { Sessions } from '../../grpc/sessions.ts';
import { streamServer } from '../../grpc/stream-server.ts';
import { defaultHeaders } from '../../http/engines/response-headers.ts';
import { findInflater, headerBytes, isCompressed } from '../../http/grpc-frame.ts';
import { SentBody } from '../../http/sent-body.ts';
import type { SlowRequests } from '../../http/slow-requests.ts';
import { type RenewableListener, type Renewal, readTls, type TlsPair } from '../../http/tls.ts';
import type { HttpEngine, ListenOptions } from '../../http/types.ts';
import type { IpNetworks } from '../../runtime/addresses.ts';
import type { Clock } from '../../runtime/clock.ts';
import { toRefusal } from '../../runtime/failures.ts';
import { collectGarbage } from '../../runtime/garbage.ts';
import { notStarted } from '../admission.ts';
import type { CallResponse, CallTransport } from '../declared.ts';
import { type FormatDeps, formatCalls } from '../formats/formats.ts';
import type { Intake } from '../pipeline.ts';
import { Health } from './health.ts';

export interface GrpcOptions extends CallDeps, ListenOptions {
  /** HTTP engine that serves HTTP/1.1. */
  readonly engine: HttpEngine;
  readonly maxConnections?: number;
  /** Trusted proxies. Each of their connections serves many clients. */
  readonly trusted?: Pick<IpNetworks, 'has'>;
  /** Maximum bytes held by all calls with incomplete messages. Unread responses have the same limit. */
  readonly maxBytes?: number;
  readonly maxWatches?: number;
  readonly slow?: SlowRequests;
}

export interface GrpcListener extends RenewableListener {
  readonly totals: CallTotals;
  /** Starts accepting messages. */
  begin(deps: FormatDeps): void;
  /** Reports to `grpc.health.v1` watchers whether the service takes data. */
  setServing(serving: boolean): void;
  unfinished(): { calls: number; bytes: number };
  unread(): number;
}

const usualConnections = 2_048;

const usualWatches = 1_024;

/**
 * Limit of bytes in calls with incomplete messages. The limit is higher if a few messages of maximum size need more.
 */
const minBytes = 64 * 1024 * 1024;

/** Interval at which slow calls are cancelled, ms. */
const sweepEveryMs = 1000;

/** Interval at which memory is freed if many calls were cancelled, ms. */
const cleanEveryMs = 2_000;
const manyCalls = 500;

function cleanUpAfter(guard: GrpcGuard): void {
  if (guard.broken < manyCalls) return;
  guard.broken = 0;
  collectGarbage();
}

/** Maximum concurrent calls of a connection. Excess calls queue in the client, not here. */
const maxCalls = 32;

/**
 * Number of calls that a client may reset in one burst, and number per second. A client above these limits gets GOAWAY
 * with ENHANCE_YOUR_CALM. Each reset frees a slot. Without limits, a client could therefore begin any number of calls
 * ("rapid reset", CVE-2023-44487).
 */
const resets = { streamResetBurst: 200, streamResetRate: 33 };

/** Options of sessions. The guard limits the memory of all sessions together. */
const sessionOptions = {
  ...resets,
  settings: { maxConcurrentStreams: maxCalls },
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
};

/**
 * Starts the gRPC listener for the operations that take data, the health service and server reflection. It also serves
 * HTTP routes, so that one port is enough. The content type distinguishes gRPC calls from HTTP/2 requests. The HTTP
 * engine serves HTTP/1.1.
 * @throws {Error} if the address cannot be bound; the message gives the address and the reason
 */
export async function listenGrpc(options: GrpcOptions): Promise<GrpcListener> {
  const { host, maxReport, clock, tls, engine } = options;
  const { findAddress = (connected: string) => connected } = options;
  const guard = new GrpcGuard({
    clock,
    maxBytes: options.maxBytes ?? Math.max(minBytes, 4 * maxReport),
    used: (connection) => acceptor.used(connection),
  });
  const health = new Health(options.maxWatches ?? usualWatches, () => {
    guard.broken += 1;
  });
  const sessions = new Sessions(clock);
  const intake = new IntakeMethods(options);
  const methods = [...intake.methods, ...health.methods, ...reflectionMethods];
  const totals = new CallTotals();
  const { slow } = options;
  const http = { dispatch: options.dispatch, findAddress, every: defaultHeaders(options.headers) };
  const services = { clock, maxMessage: maxReport, guard, totals, http, ...(slow && { slow }) };
  const serve = streamServer(methods, services);
  const http1 = new Http1Forwarder(engine, options);
  const acceptor = await GrpcAcceptor.open({
    host,
    port: options.port,
    trusted: options.trusted,
    tls: tls && readTls(tls),
    maxConnections: options.maxConnections ?? usualConnections,
    accepted(connection) {
      const session = performServerHandshake(connection.socket, sessionOptions);
      session.on('stream', (stream, headers) => serve(stream, headers, connection));
      sessions.add(session, connection);
    },
    acceptedHttp1: (socket) => void http1.forward(socket),
  });
  const sweep = setInterval(() => {
    guard.sweep();
    sessions.sweep();
  }, sweepEveryMs);
  const clean = setInterval(() => cleanUpAfter(guard), cleanEveryMs);
  return {
    host,
    port: acceptor.port,
    totals,
    begin: (deps) => intake.begin(deps),
    setServing: (serving) => health.setServing(serving),
    unfinished: () => ({ calls: guard.size, bytes: guard.bytes }),
    unread: () => guard.unread,
    reopen: async () => createRenewal(acceptor, tls && readTls(tls)),
    async close(graceMs) {
      health.close();
      acceptor.close();
      await Promise.all([sessions.close(graceMs), http1.close(graceMs)]);
      acceptor.destroy();
      clearInterval(sweep);
      clearInterval(clean);
    },
  };
}

function createRenewal(acceptor: GrpcAcceptor, pair: TlsPair | undefined): Renewal {
  return {
    async finish() {
      if (pair !== undefined) acceptor.renewTls(pair);
    },
    async undo() {},
  };
}

export interface CallDeps {
  readonly clock: Clock;
  /** Maximum size of a decompressed message, in bytes. */
  readonly maxReport: number;
  /** Called for every failure that is not a refusal. Must not throw. */
  onError(error: unknown): void;
}

interface IncomingCall {
  readonly call: Call;
  frame: Buffer | undefined;
}

/**
 * Methods that take data. They refuse calls until `begin`, because the gRPC listener opens before the service is ready.
 */
class IntakeMethods {
  readonly methods: readonly Method[];
  readonly #deps: CallDeps;
  /** Intakes by path. */
  readonly #intakes = new Map<string, Intake<IncomingCall, CallResponse>>();

  constructor(deps: CallDeps) {
    this.#deps = deps;
    this.methods = formatCalls.map(({ path }) => ({
      path,
      receive: (call, frame) => this.#receive(path, { call, frame }),
      refused: (call, refusal) => this.#intakes.get(path)?.refused({ call, frame: undefined }, refusal),
    }));
  }

  begin(deps: FormatDeps): void {
    const transport = grpcTransport(this.#deps);
    for (const { path, open } of formatCalls) this.#intakes.set(path, open(deps, transport));
  }

  #receive(path: string, incoming: IncomingCall): void {
    const intake = this.#intakes.get(path);
    const { call } = incoming;
    try {
      const response = intake === undefined ? toRpcStatus(notStarted) : intake.receive(incoming);
      if (!(response instanceof Promise)) send(call, response);
      else {
        response.then(
          (late) => send(call, late),
          (error) => this.#fail(call, error),
        );
      }
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #fail(call: Call, error: unknown): void {
    this.#deps.onError(error);
    call.fail(toRpcStatus(toRefusal(error)));
  }
}

function send(call: Call, response: CallResponse): void {
  if ('code' in response) call.fail(response);
  else call.end(response);
}

/** Bytes of an incomplete message that are searched for its sender. */
const beginningBytes = 4096;

function grpcTransport({ clock, maxReport }: CallDeps): CallTransport<IncomingCall> {
  return {
    transport: 'grpc',
    // SDKs identify themselves in `UA`, because their gRPC library writes `user-agent`.
    userAgent: ({ call }) => call.header('ua') ?? call.header('user-agent'),
    idempotencyKey: ({ call }) => call.header('idempotency-key'),
    isRetry: ({ call }) => isRetry(call.header(attemptsHeader)),
    address: ({ call }) => call.connection.socket.remoteAddress ?? '',
    read(incoming, budget) {
      const frame = incoming.frame!;
      incoming.frame = undefined; // Frees the frame while the report waits for the disk.
      if (!isCompressed(frame)) {
        const message = frame.subarray(headerBytes);
        budget.hold(message);
        return message;
      }
      const encoding = incoming.call.header('grpc-encoding');
      findInflater(encoding);
      budget.hold(frame);
      return new SentBody(frame, [{ kind: 'frame', encoding }], maxReport);
    },
    check({ call }) {
      if (call.closed) throw gone;
      checkDeadline(call.header('grpc-timeout'), clock.monotonic() - call.since);
    },
    beginning({ call, frame }) {
      if (frame === undefined) return call.beginning(beginningBytes);
      return isCompressed(frame) ? undefined : frame.subarray(headerBytes);
    },
    getHeaders: ({ call }) => call,
    refuse: toRpcStatus,
  };
}

const gone = new Refusal('deadline_exceeded', 'The call ended before its message was accepted; nothing was counted');
