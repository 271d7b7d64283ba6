import { type ChannelOptions, logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js';
import { authority } from '../address.ts';
import { bindFailure } from '../http/bind-failure.ts';
import { type GrpcTls, RenewableCredentials } from './grpc-credentials.ts';
import { Health } from './grpc-health.ts';
import { addReflection } from './grpc-reflection.ts';
import { addReports, type ReportParts } from './grpc-reports.ts';

export interface GrpcOptions extends ReportParts {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly tls?: GrpcTls;
}

export interface GrpcListener {
  readonly host: string;
  readonly port: number;
  /** Tells `grpc.health.v1` watchers whether the service takes data. */
  setServing(serving: boolean): void;
  /** New connections get another certificate; without TLS there is none to replace. */
  renewTls(tls: GrpcTls): void;
  /** Stops accepting and lets calls under way finish; after `graceMs` it cuts the rest. */
  close(graceMs: number): Promise<void>;
}

/**
 * What one connection may take, and how long it may stay. Calls of a connection that wait for their turn cost their
 * sender memory, not us; peers that are gone without a word are found by the pings. Nobody can ask for what channelz
 * counts of each call.
 */
const connectionOptions: ChannelOptions = {
  'grpc.enable_channelz': 0,
  'grpc.max_concurrent_streams': 128,
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
  const { host, port, tls, maxReport } = options;
  // The library's own refusal has no code of ours and is in no ledger, so what is not far too large comes through.
  const server = new Server({ ...connectionOptions, 'grpc.max_receive_message_length': 2 * maxReport });
  const health = new Health();
  addReports(server, options);
  health.addTo(server);
  addReflection(server);
  const secure = tls && new RenewableCredentials(tls);
  const realPort = await bind(server, host, port, secure?.credentials ?? ServerCredentials.createInsecure());
  return {
    host,
    port: realPort,
    setServing: (serving) => health.setServing(serving),
    renewTls: (pair) => secure?.renew(pair),
    close(graceMs) {
      health.close();
      return close(server, graceMs);
    },
  };
}

function bind(server: Server, host: string, port: number, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(authority(host, port), credentials, async (error, realPort) => {
      if (error === null) resolve(realPort);
      else reject(await bindFailure(host, port, error));
    });
  });
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
