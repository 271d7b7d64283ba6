import { type ChannelOptions, logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js';
import { collectGarbage } from '../garbage.ts';
import type { TlsPair } from '../http/tls.ts';
import { GrpcAcceptor } from './acceptor.ts';
import { addReports, type ReportDeps, refuseEarly } from './calls.ts';
import { GrpcGuard } from './guard.ts';
import { Health } from './health.ts';
import { addReflection } from './reflection.ts';

export interface GrpcOptions extends ReportDeps {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly tls?: TlsPair;
  /** Connections that may be open at once. */
  readonly maxConnections?: number;
  /** Bytes that all calls may hold whose messages are not whole; and those whose answers are not taken. */
  readonly maxBytes?: number;
  /** Watches of the health service that may be under way at once. */
  readonly maxWatches?: number;
  /** The port of HTTP, for the answer to clients that speak it here. */
  readonly httpPort?: number | undefined;
}

export interface GrpcListener {
  readonly host: string;
  readonly port: number;
  /** Tells `grpc.health.v1` watchers whether the service takes data. */
  setServing(serving: boolean): void;
  /** Calls whose messages are not whole, and what they hold. */
  unfinished(): { calls: number; bytes: number };
  /** Calls whose answers are not taken, as of the last sweep. */
  unread(): number;
  /** New connections get another certificate; without TLS there is none to replace. */
  renewTls(tls: TlsPair): void;
  /** Stops accepting and lets calls under way finish; after `graceMs` it cuts the rest. */
  close(graceMs: number): Promise<void>;
}

/** Connections that may be open at once, unless it is set. */
const usualConnections = 2_048;

/** Watches of the health service that may be under way at once, unless it is set. */
const usualWatches = 1_024;

/** Calls whose messages are not whole may hold this much, or a few of the largest messages. */
const minBytes = 64 * 1024 * 1024;

/** How often calls that take too long are ended, ms. */
const sweepEveryMs = 1000;

/** Memory of calls that were cut short is given back this soon, ms, when there were many. */
const cleanEveryMs = 2_000;
const manyCalls = 500;

function cleanUpAfter(guard: GrpcGuard): void {
  if (guard.broken < manyCalls) return;
  guard.broken = 0;
  collectGarbage();
}

/**
 * What one connection may take, and how long it may stay. Calls of a connection that wait for their turn cost their
 * sender memory, not us; peers that are gone without a word are found by the pings. Nobody can ask for what channelz
 * counts of each call.
 */
const connectionOptions: ChannelOptions = {
  'grpc.enable_channelz': 0,
  'grpc.max_concurrent_streams': 32,
  'grpc.keepalive_time_ms': 120_000,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.max_connection_idle_ms': 15 * 60_000,
  'grpc.max_connection_age_ms': 60 * 60_000,
  'grpc.max_connection_age_grace_ms': 30_000,
};

// What the library would write to standard error are no log lines, and its errors are handed to us as well.
setLogVerbosity(logVerbosity.NONE);

/**
 * Starts the gRPC listener: the operations that take reports, the health service and server reflection.
 * @throws {Error} when the address cannot be bound; the message names it and says why
 */
export async function listenGrpc(options: GrpcOptions): Promise<GrpcListener> {
  const { host, maxReport, clock } = options;
  const guard = new GrpcGuard({
    clock,
    maxReport,
    maxBytes: options.maxBytes ?? Math.max(minBytes, 4 * maxReport),
    used: (session, peer) => acceptor.used(session, peer),
    refused: (refusal, call) => refuseEarly(options, refusal, call),
  });
  const server = new Server({
    ...connectionOptions,
    'grpc.max_receive_message_length': maxReport,
    interceptors: [guard.interceptor],
  });
  const health = new Health(options.maxWatches ?? usualWatches, () => {
    guard.broken += 1;
  });
  addReports(server, options);
  health.addTo(server);
  addReflection(server);
  // TLS ends at the acceptor.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const acceptor = await GrpcAcceptor.open({
    ...options,
    maxConnections: options.maxConnections ?? usualConnections,
    accepted: (socket) => injector.injectConnection(socket),
  });
  const sweep = setInterval(() => guard.sweep(), sweepEveryMs);
  const clean = setInterval(() => cleanUpAfter(guard), cleanEveryMs);
  return {
    host,
    port: acceptor.port,
    setServing: (serving) => health.setServing(serving),
    unfinished: () => ({ calls: guard.size, bytes: guard.bytes }),
    unread: () => guard.unread,
    renewTls: (tls) => acceptor.renewTls(tls),
    async close(graceMs) {
      health.close();
      acceptor.close();
      await close(server, graceMs);
      acceptor.destroy();
      clearInterval(sweep);
      clearInterval(clean);
    },
  };
}

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.forceShutdown(), graceMs);
    server.tryShutdown(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}
