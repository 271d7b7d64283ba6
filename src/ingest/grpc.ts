import { type ChannelOptions, Server, ServerCredentials } from '@grpc/grpc-js';
import { Health } from './grpc-health.ts';
import { addReflection } from './grpc-reflection.ts';
import { addReports, type ReportParts } from './grpc-reports.ts';

export interface GrpcOptions extends ReportParts {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** Most bytes of a message, inflated. */
  readonly maxBody: number;
}

export interface GrpcListener {
  readonly host: string;
  readonly port: number;
  /** Tells `grpc.health.v1` watchers whether the service takes data. */
  setServing(serving: boolean): void;
  /** Stops accepting and lets calls under way finish; after `graceMs` it cuts the rest. */
  close(graceMs: number): Promise<void>;
}

/**
 * What one connection may take, and how long it may stay. Calls of a connection that wait for their turn cost their
 * sender memory, not us; peers that are gone without a word are found by the pings.
 */
const connectionOptions: ChannelOptions = {
  'grpc.max_concurrent_streams': 128,
  'grpc.keepalive_time_ms': 120_000,
  'grpc.keepalive_timeout_ms': 20_000,
  'grpc.max_connection_idle_ms': 15 * 60_000,
  'grpc.max_connection_age_ms': 60 * 60_000,
  'grpc.max_connection_age_grace_ms': 30_000,
};

/**
 * Starts the gRPC listener: the operations that take reports, the health service and server reflection.
 * @throws {Error} when the address cannot be bound
 */
export async function listenGrpc(options: GrpcOptions): Promise<GrpcListener> {
  const { host, port, tls, maxBody } = options;
  const server = new Server({ ...connectionOptions, 'grpc.max_receive_message_length': maxBody });
  const health = new Health();
  addReports(server, options);
  health.addTo(server);
  addReflection(server);
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const realPort = await bind(server, address, credentials);
  return {
    host,
    port: realPort,
    setServing: (serving) => health.setServing(serving),
    close(graceMs) {
      health.close();
      return close(server, graceMs);
    },
  };
}

function bind(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error === null) resolve(port);
      else reject(new Error(`Cannot listen for gRPC on ${address}: ${error.message}`));
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
