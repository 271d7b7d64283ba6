import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { DefaultHeaders } from '../http/engines/response-headers.ts';
import type { SlowRequests } from '../http/slow-requests.ts';
import type { AddressFinder, Dispatch } from '../http/types.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Connection } from './acceptor.ts';
import { Call, type Method, Trailers, trailersOnly } from './call.ts';
import type { CallTotals } from './call-totals.ts';
import type { GrpcGuard } from './guard.ts';
import { HttpExchange } from './http-exchange.ts';
import { rpcCodes } from './protocol.ts';

interface StreamServerDeps {
  readonly http: { readonly dispatch: Dispatch; readonly findAddress: AddressFinder; readonly every: DefaultHeaders };
  readonly clock: Clock;
  readonly maxMessage: number;
  readonly guard: GrpcGuard;
  readonly totals: CallTotals;
  readonly slow?: SlowRequests;
}

type Serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, connection: Connection) => void;

const ignore = () => {};

/** Content types of gRPC. The pattern excludes gRPC-Web, which consists of ordinary HTTP requests. */
const grpcType = /^application\/grpc(?:[+;]|$)/i;

/** Serves the streams of a connection. Methods handle gRPC calls, and routes handle HTTP requests. */
export function streamServer(methods: readonly Method[], deps: StreamServerDeps): Serve {
  const { guard, totals, http, ...rest } = deps;
  const more = { ...rest, trailers: new Trailers() };
  const methodAt = new Map(methods.map((method) => [method.path, { method, row: totals.row(method.path) }]));
  return (stream, headers, connection) => {
    stream.on('error', ignore); // A 'close' event follows an error.
    const now = deps.clock.monotonic();
    const isCall = headers[':method'] === 'POST' && grpcType.test(headers['content-type'] ?? '');
    const known = isCall ? methodAt.get(headers[':path']!) : undefined;
    if (isCall && known === undefined) {
      totals.unknown.count(rpcCodes.unimplemented, undefined);
      stream.respond(unimplemented, { endStream: true });
      guard.discard(stream);
      return;
    }
    connection.busyAt = now;
    if (known === undefined) {
      const exchange = new HttpExchange(stream, headers, { ...http, connection, observer: guard, now });
      guard.watch(exchange);
      exchange.serve(http.dispatch);
    } else {
      const { method, row } = known;
      guard.watch(new Call(method, stream, headers, { ...more, connection, observer: guard, row, now }));
    }
  };
}

const unimplemented = trailersOnly({ code: rpcCodes.unimplemented, message: 'Unknown method', trailers: [] });
