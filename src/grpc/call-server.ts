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
    const isPost = headers[':method'] === 'POST';
    const method = methodAt.get(headers[':path']!);
    if (!isPost || !isGrpc || method === undefined) {
      stream.respond(isPost ? (isGrpc ? unimplemented : notGrpc) : notPost, { endStream: true });
      guard.answeredUnread(stream);
      return;
    }
    const now = clock.monotonic();
    connection.busyAt = now;
    guard.watch(new Call(method, stream, headers, { connection, observer: guard, maxMessage, now }));
  };
}

const notPost: OutgoingHttpHeaders = { ':status': 405, allow: 'POST' };
const notGrpc: OutgoingHttpHeaders = { ':status': 415 };
const unimplemented = trailersOnly({
  code: codeOf.unimplemented,
  message: 'There is no such method',
  trailers: [],
});
