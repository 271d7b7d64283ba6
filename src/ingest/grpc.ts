import { Server, ServerCredentials } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';

export interface GrpcOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
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
 * Starts the gRPC listener with the health service (`grpc.health.v1`).
 * @throws {Error} when the address cannot be bound
 */
export async function listenGrpc({ host, port, tls }: GrpcOptions): Promise<GrpcListener> {
  const server = new Server({ 'grpc.max_receive_message_length': 4 * 1024 * 1024 });
  const health = new HealthImplementation({ '': 'SERVING' });
  health.addToServer(server);
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const realPort = await bind(server, address, credentials);
  return {
    host,
    port: realPort,
    setServing: (serving) => health.setStatus('', serving ? 'SERVING' : 'NOT_SERVING'),
    close: (graceMs) => close(server, graceMs),
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
