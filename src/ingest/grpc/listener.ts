import { performServerHandshake } from 'node:http2';
import { GrpcAcceptor } from '../../grpc/acceptor.ts';
import { CallTotals } from '../../grpc/call-totals.ts';
import { GrpcGuard } from '../../grpc/guard.ts';
import { Http1Forwarder } from '../../grpc/http1-forwarder.ts';
import { reflectionMethods } from '../../grpc/reflection.ts';
import { Sessions } from '../../grpc/sessions.ts';
import { streamServer } from '../../grpc/stream-server.ts';
import { headersOfEveryReply } from '../../http/engines/reply-headers.ts';
import type { RenewableListener, Renewal } from '../../http/renewable.ts';
import type { SlowRequests } from '../../http/slow-requests.ts';
import { readTls, type TlsPair } from '../../http/tls.ts';
import type { HttpEngine, ListenOptions } from '../../http/types.ts';
import { collectGarbage } from '../../runtime/garbage.ts';
import type { IpNetworks } from '../../runtime/ip-networks.ts';
import type { OtlpDeps } from '../otlp/handler.ts';
import type { ReportKinds } from '../reports/kinds.ts';
import { type CallDeps, IntakeMethods } from './calls.ts';
import { Health } from './health.ts';

export interface GrpcOptions extends CallDeps, ListenOptions {
  /** Serves HTTP/1.1. */
  readonly engine: HttpEngine;
  readonly maxConnections?: number;
  /** Proxies: each connection of theirs serves many clients. */
  readonly trusted?: Pick<IpNetworks, 'has'>;
  /** Maximum bytes held by all calls with incomplete messages, and by those with unread answers. */
  readonly maxBytes?: number;
  readonly maxWatches?: number;
  readonly slow?: SlowRequests;
}

export interface GrpcListener extends RenewableListener {
  readonly totals: CallTotals;
  /** Takes data from now on. @param otlp takes the exports of OpenTelemetry */
  begin(reports: ReportKinds, otlp?: OtlpDeps): void;
  /** Reports to `grpc.health.v1` watchers whether the service takes data. */
  setServing(serving: boolean): void;
  unfinished(): { calls: number; bytes: number };
  unread(): number;
}

const usualConnections = 2_048;

const usualWatches = 1_024;

/** Calls with incomplete messages may hold this much, or a few of the largest messages. */
const minBytes = 64 * 1024 * 1024;

/** Interval at which slow calls are cancelled, ms. */
const sweepEveryMs = 1000;

/** Delay until memory of cancelled calls is freed, ms, if there were many. */
const cleanEveryMs = 2_000;
const manyCalls = 500;

function cleanUpAfter(guard: GrpcGuard): void {
  if (guard.broken < manyCalls) return;
  guard.broken = 0;
  collectGarbage();
}

/** Maximum concurrent calls of a connection. Those that wait cost memory of their sender, not ours. */
const maxCalls = 32;

/**
 * Calls that the client of a connection may reset in one burst, and a second. Above both it gets GOAWAY with ENHANCE_YOUR_CALM: a call that
 * was reset frees its place for the next one, so a client could begin any number of them ("rapid reset", CVE-2023-44487).
 */
const resets = { streamResetBurst: 200, streamResetRate: 33 };

/** The guard limits the memory of all sessions together. */
const sessionOptions = {
  ...resets,
  settings: { maxConcurrentStreams: maxCalls },
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
};

/**
 * Starts the gRPC listener: the operations that take data, the health service and server reflection. It also serves routes of HTTP, so
 * that one port is enough: each stream of HTTP/2 by its content type, and HTTP/1.1 through the HTTP engine.
 * @throws {Error} if the address cannot be bound; the message gives the address and the reason
 */
export async function listenGrpc(options: GrpcOptions): Promise<GrpcListener> {
  const { host, maxReport, clock, tls, engine } = options;
  const { addressOf = (connected: string) => connected } = options;
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
  const http = { dispatch: options.dispatch, addressOf, every: headersOfEveryReply(options.headers) };
  const parts = { clock, maxMessage: maxReport, guard, totals, http, ...(slow && { slow }) };
  const serve = streamServer(methods, parts);
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
    begin: (reports, otlp) => intake.begin(reports, otlp),
    setServing: (serving) => health.setServing(serving),
    unfinished: () => ({ calls: guard.size, bytes: guard.bytes }),
    unread: () => guard.unread,
    reopen: async () => renewalOf(acceptor, tls && readTls(tls)),
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

function renewalOf(acceptor: GrpcAcceptor, pair: TlsPair | undefined): Renewal {
  return {
    async finish() {
      if (pair !== undefined) acceptor.renewTls(pair);
    },
    async undo() {},
  };
}
