import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { SlowRequests } from '../http/slow-requests.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Connection } from './acceptor.ts';
import { Call, type Method, trailersOnly } from './call.ts';
import type { CallTotals } from './call-totals.ts';
import type { GrpcGuard } from './guard.ts';
import { codeOf } from './status.ts';

interface CallServerDeps {
  readonly clock: Clock;
  readonly maxMessage: number;
  readonly guard: GrpcGuard;
  readonly totals: CallTotals;
  readonly slow?: SlowRequests;
}

type Serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, connection: Connection) => void;

const ignore = () => {};

/** Starts the calls of methods. Returns the handler for new streams of a connection. */
export function callServer(methods: readonly Method[], { guard, totals, ...deps }: CallServerDeps): Serve {
  const methodAt = new Map(methods.map((method) => [method.path, { method, row: totals.row(method.path) }]));
  return (stream, headers, connection) => {
    stream.on('error', ignore); // The 'close' event follows.
    const isGrpc = headers['content-type']?.startsWith('application/grpc') ?? false;
    const isPost = headers[':method'] === 'POST';
    const known = methodAt.get(headers[':path']!);
    if (!isPost || !isGrpc || known === undefined) {
      if (isPost && isGrpc) totals.unknown.count(codeOf.unimplemented, undefined);
      stream.respond(isPost ? (isGrpc ? unimplemented : notGrpc) : notPost, { endStream: true });
      guard.answeredUnread(stream);
      return;
    }
    const now = deps.clock.monotonic();
    connection.busyAt = now;
    const { method, row } = known;
    guard.watch(new Call(method, stream, headers, { ...deps, connection, observer: guard, row, now }));
  };
}

const notPost: OutgoingHttpHeaders = { ':status': 405, allow: 'POST' };
const notGrpc: OutgoingHttpHeaders = { ':status': 415 };
const unimplemented = trailersOnly({
  code: codeOf.unimplemented,
  message: 'Unknown method',
  trailers: [],
});
