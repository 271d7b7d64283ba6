import { Refusal } from '../../contract/errors.ts';
import type { Call, Method } from '../../grpc/call.ts';
import { bytesField, joinFields, numberField, ProtoReader } from '../../grpc/protobuf.ts';
import { messageFrame, messageIn, type RpcStatus, rpcCodes, toRpcStatus } from '../../grpc/protocol.ts';
import { formatCalls } from '../formats/formats.ts';

/** Values of `HealthCheckResponse.ServingStatus` in `proto/grpc/health/v1/health.proto`. */
const statuses = { serving: 1, notServing: 2, unknownService: 3 };

const healthService = 'grpc.health.v1.Health';

/**
 * Names of services with a status: the services that take data, and the empty name for the whole server. All of them
 * have the same status.
 */
const services: readonly string[] = ['', ...formatCalls.map(({ service }) => service)];

const maxRequest = 4096;

/**
 * The standard health service. It reports to callers and load balancers whether the service takes data.
 *
 * The package grpc-health-check does not fit. It reads its `.proto` file from its own folder at startup (ENOENT in the
 * executable) and needs grpc-js and protobufjs (2.3 MB). The package limits neither the number of watches nor their
 * unsent data.
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export class Health {
  /** Maximum number of open watches. Each watch holds memory until its caller ends it. */
  readonly #maxWatches: number;
  /** Called for each watch that is closed because there are too many. */
  readonly #dropped: () => void;
  #serving = true;
  readonly #watches = new Map<Call, boolean>();

  constructor(maxWatches: number, dropped: () => void) {
    this.#maxWatches = maxWatches;
    this.#dropped = dropped;
  }

  get methods(): Method[] {
    return [
      this.#method('Check', (call, service) => this.#check(call, service)),
      this.#method('Watch', (call, service) => this.#watch(call, service)),
      { path: `/${healthService}/List`, receive: (call) => call.end(messageFrame(this.#list())) },
    ];
  }

  setServing(serving: boolean): void {
    if (serving === this.#serving) return;
    this.#serving = serving;
    for (const [watch, known] of this.#watches) if (known) watch.send(this.#encodeStatus());
  }

  /** Closes every watch. Watches would otherwise outlast the server. */
  close(): void {
    this.setServing(false);
    for (const watch of this.#watches.keys()) watch.end();
    this.#watches.clear();
  }

  #method(name: string, take: (call: Call, service: string) => void): Method {
    return {
      path: `/${healthService}/${name}`,
      receive(call, frame) {
        try {
          take(call, readService(messageIn(frame, call.header('grpc-encoding'), maxRequest)));
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          call.fail(toRpcStatus(error));
        }
      },
    };
  }

  #check(call: Call, service: string): void {
    if (services.includes(service)) call.end(messageFrame(this.#encodeStatus()));
    else call.fail(unknown);
  }

  #list(): Buffer {
    return joinFields(
      ...services.map((service) =>
        bytesField(1, joinFields(bytesField(1, service), bytesField(2, this.#encodeStatus()))),
      ),
    );
  }

  #watch(call: Call, service: string): void {
    // A watch of an unknown service stays open, because by the protocol the service can appear later.
    const known = services.includes(service);
    call.send(known ? this.#encodeStatus() : numberField(1, statuses.unknownService));
    this.#watches.set(call, known);
    call.onClosed = () => this.#watches.delete(call);
    if (this.#watches.size > this.#maxWatches) this.#endOldest();
  }

  /** Ends the oldest watch. Refusing the newest watch instead would let abandoned watches block new callers. */
  #endOldest(): void {
    for (const watch of this.#watches.keys()) {
      this.#watches.delete(watch);
      watch.fail(tooMany);
      this.#dropped();
      return;
    }
  }

  #encodeStatus(): Buffer {
    return numberField(1, this.#serving ? statuses.serving : statuses.notServing);
  }
}

const tooMany: RpcStatus = {
  code: rpcCodes.unavailable,
  message: 'The health service has too many watches',
  trailers: [],
};

const unknown: RpcStatus = { code: rpcCodes.notFound, message: 'Unknown service', trailers: [] };

/** Reads the service name of a `HealthCheckRequest`. @throws {Refusal} `invalid_protobuf` */
function readService(request: Uint8Array): string {
  const reader = new ProtoReader(request);
  let service = '';
  while (reader.next()) {
    if (reader.field === 1) service = reader.string();
    else reader.skip();
  }
  return service;
}
