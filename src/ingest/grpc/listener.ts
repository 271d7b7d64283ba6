import { performServerHandshake } from 'node:http2';
import { GrpcAcceptor } from '../../grpc/acceptor.ts';
import { callServer } from '../../grpc/call-server.ts';
import { CallTally } from '../../grpc/call-tally.ts';
import { GrpcGuard } from '../../grpc/guard.ts';
import { reflectionMethods } from '../../grpc/reflection.ts';
import { Sessions } from '../../grpc/sessions.ts';
import type { SlowRequests } from '../../http/slow-requests.ts';
import type { TlsPair } from '../../http/tls.ts';
import { collectGarbage } from '../../runtime/garbage.ts';
import type { IpNetworks } from '../../runtime/ip-networks.ts';
import type { ReportKinds } from '../reports/kinds.ts';
import { type CallDeps, ReportMethods } from './calls.ts';
import { Health } from './health.ts';

export interface GrpcOptions extends CallDeps {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly tls?: TlsPair;
  /** Connections that may be open at once. */
  readonly maxConnections?: number;
  /** Proxies: the connections of each are those of many clients. */
  readonly trusted?: Pick<IpNetworks, 'has'>;
  /** Bytes that all calls may hold whose messages are not whole; and those whose answers are not taken. */
  readonly maxBytes?: number;
  /** Watches of the health service that may be under way at once. */
  readonly maxWatches?: number;
  /** The port of HTTP, for the answer to clients that speak it here. */
  readonly httpPort?: number | undefined;
  /** Warns of calls that took long. */
  readonly slow?: SlowRequests;
}

export interface GrpcListener {
  readonly host: string;
  readonly port: number;
  /** What has become of the calls. */
  readonly tally: CallTally;
  /** Begins to take reports; before, they are refused. */
  begin(reports: ReportKinds): void;
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

/** Calls that one connection may have at once. Those that wait for their turn cost their sender memory, not us. */
const maxCalls = 32;

/** What a session holds is bounded by the guard, over all of them. */
const sessionOptions = {
  settings: { maxConcurrentStreams: maxCalls },
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
};

/**
 * Starts the gRPC listener: the operations that take reports, the health service and server reflection.
 * @throws {Error} when the address cannot be bound; the message names it and says why
 */
export async function listenGrpc(options: GrpcOptions): Promise<GrpcListener> {
  const { host, maxReport, clock } = options;
  const guard = new GrpcGuard({
    clock,
    maxBytes: options.maxBytes ?? Math.max(minBytes, 4 * maxReport),
    used: (connection) => acceptor.used(connection),
  });
  const health = new Health(options.maxWatches ?? usualWatches, () => {
    guard.broken += 1;
  });
  const sessions = new Sessions(clock);
  const reports = new ReportMethods(options);
  const methods = [...reports.methods, ...health.methods, ...reflectionMethods];
  const tally = new CallTally();
  const { slow } = options;
  const serve = callServer(methods, { clock, maxMessage: maxReport, guard, tally, ...(slow && { slow }) });
  const acceptor = await GrpcAcceptor.open({
    ...options,
    maxConnections: options.maxConnections ?? usualConnections,
    accepted(connection) {
      const session = performServerHandshake(connection.socket, sessionOptions);
      session.on('stream', (stream, headers) => serve(stream, headers, connection));
      sessions.add(session, connection);
    },
  });
  const sweep = setInterval(() => {
    guard.sweep();
    sessions.sweep();
  }, sweepEveryMs);
  const clean = setInterval(() => cleanUpAfter(guard), cleanEveryMs);
  return {
    host,
    port: acceptor.port,
    tally,
    begin: (taken) => reports.begin(taken),
    setServing: (serving) => health.setServing(serving),
    unfinished: () => ({ calls: guard.size, bytes: guard.bytes }),
    unread: () => guard.unread,
    renewTls: (tls) => acceptor.renewTls(tls),
    async close(graceMs) {
      health.close();
      acceptor.close();
      await sessions.close(graceMs);
      acceptor.destroy();
      clearInterval(sweep);
      clearInterval(clean);
    },
  };
}
