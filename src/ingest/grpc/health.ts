import { ApiError } from '../../contract/errors.ts';
import type { Call, Method } from '../../grpc/call.ts';
import { messageFrame, messageIn } from '../../grpc/frames.ts';
import { ProtoReader } from '../../grpc/proto-reader.ts';
import { bytesField, joinFields, numberField } from '../../grpc/proto-writer.ts';
import { codeOf, type RpcStatus, statusOf } from '../../grpc/status.ts';
import { operations } from './operations.ts';

/** `HealthCheckResponse.ServingStatus` of `proto/grpc/health/v1/health.proto`. */
const statuses = { serving: 1, notServing: 2, unknownService: 3 };

const healthService = 'grpc.health.v1.Health';

/** The services that can be asked for: the whole server by the empty name, and each that takes data. All have one status. */
const services: readonly string[] = ['', ...operations.map(({ service }) => service)];

/** Most bytes of a request. */
const maxRequest = 4096;

/**
 * The standard health service, which tells callers and load balancers whether the service takes data.
 *
 * The package grpc-health-check cannot serve here: it reads its `.proto` file from its own folder when it starts (ENOENT in the
 * executable), needs grpc-js and protobufjs (2.3 MB), and bounds neither its watches nor what they do not take.
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export class Health {
  /** Watches that may be under way at once: each holds memory for as long as its caller likes. */
  readonly #maxWatches: number;
  /** Told of each watch that is ended because there are too many. */
  readonly #dropped: () => void;
  #serving = true;
  /** Those under way, and whether each is of a service that is there. */
  readonly #watches = new Map<Call, boolean>();

  constructor(maxWatches: number, dropped: () => void) {
    this.#maxWatches = maxWatches;
    this.#dropped = dropped;
  }

  /** `Check`, `List` and `Watch`. */
  get methods(): Method[] {
    return [
      this.#method('Check', (call, service) => this.#check(call, service)),
      this.#method('Watch', (call, service) => this.#watch(call, service)),
      { path: `/${healthService}/List`, receive: (call) => call.end(messageFrame(this.#list())) },
    ];
  }

  /** Tells the watches when this is news. */
  setServing(serving: boolean): void {
    if (serving === this.#serving) return;
    this.#serving = serving;
    for (const [watch, known] of this.#watches) if (known) watch.send(this.#answer());
  }

  /** Ends every watch: it would outlast the server otherwise. */
  close(): void {
    this.setServing(false);
    for (const watch of this.#watches.keys()) watch.end();
    this.#watches.clear();
  }

  /** A method whose request is a `HealthCheckRequest`. */
  #method(name: string, take: (call: Call, service: string) => void): Method {
    return {
      path: `/${healthService}/${name}`,
      receive(call, frame) {
        try {
          take(call, readService(messageIn(frame, call.header('grpc-encoding'), maxRequest)));
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          call.fail(statusOf(error));
        }
      },
    };
  }

  #check(call: Call, service: string): void {
    if (services.includes(service)) call.end(messageFrame(this.#answer()));
    else call.fail(unknown);
  }

  #list(): Buffer {
    return joinFields(
      ...services.map((service) =>
        bytesField(1, joinFields(bytesField(1, service), bytesField(2, this.#answer()))),
      ),
    );
  }

  #watch(call: Call, service: string): void {
    // A watch of an unknown service stays open, because the protocol lets the service appear later.
    const known = services.includes(service);
    call.send(known ? this.#answer() : numberField(1, statuses.unknownService));
    this.#watches.set(call, known);
    call.onClosed = () => this.#watches.delete(call);
    if (this.#watches.size > this.#maxWatches) this.#endOldest();
  }

  /** The newest is not refused: watches that serve nothing would keep others out. */
  #endOldest(): void {
    for (const watch of this.#watches.keys()) {
      this.#watches.delete(watch);
      watch.fail(tooMany);
      this.#dropped();
      return;
    }
  }

  /** A `HealthCheckResponse`. */
  #answer(): Buffer {
    return numberField(1, this.#serving ? statuses.serving : statuses.notServing);
  }
}

const tooMany: RpcStatus = {
  code: codeOf.unavailable,
  message: 'The health service has too many watches',
  trailers: [],
};

const unknown: RpcStatus = { code: codeOf.notFound, message: 'There is no such service', trailers: [] };

/** The service that a `HealthCheckRequest` asks for. @throws {ApiError} `invalid_protobuf` */
function readService(request: Uint8Array): string {
  const reader = new ProtoReader(request);
  let service = '';
  while (reader.next()) {
    if (reader.field === 1) service = reader.string();
    else reader.skip();
  }
  return service;
}
