import { performServerHandshake } from 'node:http2';
import { GrpcAcceptor } from '../../grpc/acceptor.ts';
import { callServer } from '../../grpc/call-server.ts';
import { CallTotals } from '../../grpc/call-totals.ts';
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
  /** 0 picks any free port. */
  readonly port: number;
  readonly tls?: TlsPair;
  readonly maxConnections?: number;
  /** Proxies: each connection of theirs serves many clients. */
  readonly trusted?: Pick<IpNetworks, 'has'>;
  /** Maximum bytes held by all calls with incomplete messages, and by those with unread answers. */
  readonly maxBytes?: number;
  readonly maxWatches?: number;
  /** The HTTP port, for the answer to clients that speak HTTP here. */
  readonly httpPort?: number | undefined;
  readonly slow?: SlowRequests;
}

export interface GrpcListener {
  readonly host: string;
  readonly port: number;
  readonly totals: CallTotals;
  begin(reports: ReportKinds): void;
  /** Reports to `grpc.health.v1` watchers whether the service takes data. */
  setServing(serving: boolean): void;
  unfinished(): { calls: number; bytes: number };
  unread(): number;
  /** Uses another certificate for new connections. Without TLS it does nothing. */
  renewTls(tls: TlsPair): void;
  /** Stops accepting calls and waits for open ones to finish. After `graceMs` it cancels the rest. */
  close(graceMs: number): Promise<void>;
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

/** The guard limits the memory of all sessions together. */
const sessionOptions = {
  settings: { maxConcurrentStreams: maxCalls },
  maxSessionMemory: Number.MAX_SAFE_INTEGER,
};

/**
 * Starts the gRPC listener: the report operations, the health service and server reflection.
 * @throws {Error} if the address cannot be bound; the message gives the address and the reason
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
  const totals = new CallTotals();
  const { slow } = options;
  const serve = callServer(methods, { clock, maxMessage: maxReport, guard, totals, ...(slow && { slow }) });
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
    totals,
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
