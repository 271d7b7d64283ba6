import {
  type Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { ApiError } from '../errors.ts';
import { ProtoReader } from '../reports/proto-reader.ts';
import { methodOf } from './method.ts';
import { operations } from './operations.ts';
import { bytesField, joinFields, numberField } from './proto-writer.ts';

/** `HealthCheckResponse.ServingStatus` of `proto/grpc/health/v1/health.proto`. */
const statuses = { serving: 1, notServing: 2, unknownService: 3 };

const healthService = 'grpc.health.v1.Health';

/** Whom one can ask for: the whole server by the empty name, and each service that takes data. All are well or ill together. */
const services: readonly string[] = ['', ...operations.map(({ service }) => service)];

type Watch = ServerWritableStream<Buffer, Buffer>;

/**
 * The standard health service, which tells callers and load balancers whether the service takes data.
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export class Health {
  /** Watches that may be under way at once: each holds memory for as long as its caller likes. */
  readonly #maxWatches: number;
  /** Told of each watch that is ended because there are too many. */
  readonly #dropped: () => void;
  #serving = true;
  /** Those under way, and whether each is of a service that is there. */
  readonly #watches = new Map<Watch, boolean>();

  constructor(maxWatches: number, dropped: () => void) {
    this.#maxWatches = maxWatches;
    this.#dropped = dropped;
  }

  /** Serves `Check`, `List` and `Watch`. */
  addTo(server: Server): void {
    const definition = {
      Check: methodOf(`/${healthService}/Check`),
      List: methodOf(`/${healthService}/List`),
      Watch: methodOf(`/${healthService}/Watch`, { responses: true }),
    };
    server.addService(definition, {
      Check: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) =>
        this.#check(call, answer),
      List: (_: unknown, answer: sendUnaryData<Buffer>) => answer(null, this.#list()),
      Watch: (call: Watch) => this.#watch(call),
    });
  }

  /** Tells who watches when this is news. */
  setServing(serving: boolean): void {
    if (serving === this.#serving) return;
    this.#serving = serving;
    for (const [watch, known] of this.#watches) if (known) watch.write(this.#answer());
  }

  /** Ends every watch: it would outlast the server otherwise. */
  close(): void {
    this.setServing(false);
    for (const watch of this.#watches.keys()) watch.end();
    this.#watches.clear();
  }

  #check({ request }: { request: Buffer }, answer: sendUnaryData<Buffer>): void {
    const service = readService(request);
    if (service === undefined) answer(unreadable);
    else if (services.includes(service)) answer(null, this.#answer());
    else answer({ code: status.NOT_FOUND, details: 'There is no such service' });
  }

  #list(): Buffer {
    return joinFields(
      ...services.map((service) =>
        bytesField(1, joinFields(bytesField(1, service), bytesField(2, this.#answer()))),
      ),
    );
  }

  #watch(call: Watch): void {
    const service = readService(call.request);
    if (service === undefined) {
      call.emit('error', unreadable);
      return;
    }
    // A watch of a service that is not there stays open, for it might come: so says the protocol.
    const known = services.includes(service);
    call.write(known ? this.#answer() : numberField(1, statuses.unknownService));
    this.#watches.set(call, known);
    call.once('cancelled', () => this.#watches.delete(call));
    if (this.#watches.size > this.#maxWatches) this.#endOldest();
  }

  /** Not the newest is refused: watches that are held for nothing would keep others out. */
  #endOldest(): void {
    for (const watch of this.#watches.keys()) {
      this.#watches.delete(watch);
      watch.emit('error', tooMany);
      this.#dropped();
      return;
    }
  }

  /** A `HealthCheckResponse`. */
  #answer(): Buffer {
    return numberField(1, this.#serving ? statuses.serving : statuses.notServing);
  }
}

const tooMany = { code: status.UNAVAILABLE, details: 'Too many watch the health service' };

const unreadable = { code: status.INVALID_ARGUMENT, details: 'The request is no HealthCheckRequest' };

/** The service that a `HealthCheckRequest` asks for; `undefined` when it cannot be read. */
function readService(request: Buffer): string | undefined {
  const reader = new ProtoReader(request);
  let service = '';
  try {
    while (reader.next()) {
      if (reader.field === 1) service = reader.string();
      else reader.skip();
    }
    return service;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
