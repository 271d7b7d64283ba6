import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../clock.ts';
import type { Connection } from './acceptor.ts';
import { Call, type Method, trailersOnly } from './call.ts';
import type { GrpcGuard } from './guard.ts';
import { codeOf } from './status.ts';

interface CallServerDeps {
  readonly clock: Clock;
  /** Most bytes of a message. */
  readonly maxMessage: number;
  readonly guard: GrpcGuard;
}

type Serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, connection: Connection) => void;

const ignore = () => {};

/** Begins the calls of methods: gives what takes each new stream of a connection. */
export function callServer(methods: readonly Method[], { clock, maxMessage, guard }: CallServerDeps): Serve {
  const methodAt = new Map(methods.map((method) => [method.path, method]));
  return (stream, headers, connection) => {
    stream.on('error', ignore); // The 'close' event follows.
    const isGrpc = headers['content-type']?.startsWith('application/grpc') ?? false;
    const method = methodAt.get(headers[':path']!);
    if (!isGrpc || method === undefined) {
      turnAway(stream, isGrpc ? unimplemented : { ':status': 415 });
      return;
    }
    const now = clock.monotonic();
    connection.busyAt = now;
    guard.watch(new Call(method, stream, headers, { connection, observer: guard, maxMessage, now }));
  };
}

const unimplemented = trailersOnly({
  code: codeOf.unimplemented,
  message: 'There is no such method',
  trailers: [],
});

/** Answers without reading, and ends the client's side as well: it may never do so. */
function turnAway(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  stream.respond(headers, { endStream: true });
  setImmediate(() => stream.close()); // Not in the middle of reading from the connection.
}
