import type { Clock } from '../clock.ts';
import { ApiError, refusalOf } from '../errors.ts';
import { readBody } from '../http/body.ts';
import type { Group } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import { ClientGone, type Reply, type Request } from '../http/types.ts';
import { senderNameOf } from '../ingest/sender-name.ts';
import type { ReportReceiver } from '../reports/report.ts';
import type { Arrival } from '../reports/take.ts';
import { checkDeadline } from './deadline.ts';
import { decodeBase64, headerBytes, readFrame, trailersFrame } from './frames.ts';
import { type Operation, operations, pathOf } from './operations.ts';
import { ok, statusOf, tooLarge } from './status.ts';

/** What the routes need of the rest of the service. */
export interface GrpcWebDeps {
  readonly receiver: ReportReceiver;
  readonly clock: Clock;
  /** Most bytes of a message. */
  readonly maxReport: number;
  /** Told of every failure that is no refusal. It must not throw. */
  onError(error: unknown): void;
}

/** The operations that take reports, as gRPC-Web over HTTP. They are for servers: no answer has CORS headers. */
export const grpcWeb: Group<GrpcWebDeps> = {
  tag: 'gRPC-Web',
  description: 'The operations of gRPC, over HTTP.',
  endpoints: operations.map((operation) => ({
    method: 'POST',
    path: pathOf(operation),
    access: { credential: 'Any application key in the message', who: 'Servers of the application' },
    bind: (deps) => (request) => receive(deps, operation, request),
  })),
};

const contentType = /^\s*application\/grpc-web(-text)?(?:\+proto)?\s*(?:;|$)/i;

/** The status of a call is in the last frame of the body, so the HTTP status is 200 whatever it is. */
async function receive(parts: GrpcWebDeps, operation: Operation, request: Request): Promise<Reply> {
  const type = contentType.exec(request.header('content-type') ?? '');
  if (type === null) return refuseType(parts, operation, request);
  const text = type[1] !== undefined;
  try {
    const answer = await operation.run(parts.receiver, arrivalOf(parts, request, text));
    return reply(text, answer, trailersFrame(ok));
  } catch (error) {
    if (error instanceof ClientGone) throw error;
    if (!(error instanceof ApiError)) parts.onError(error);
    return reply(text, trailersFrame(statusOf(refusalOf(error))));
  }
}

function refuseType({ receiver }: GrpcWebDeps, { route }: Operation, request: Request): Reply {
  const refusal = new ApiError('unsupported_media_type', 'Send application/grpc-web');
  receiver.refused(
    refusal,
    route,
    { transport, userAgent: senderNameOf(request) ?? request.header('x-user-agent') },
    {},
  );
  return problem(refusal);
}

const transport = 'grpc-web';

function arrivalOf({ receiver, clock, maxReport }: GrpcWebDeps, request: Request, text: boolean): Arrival {
  const start = clock.monotonic();
  return {
    transport,
    userAgent: senderNameOf(request) ?? request.header('x-user-agent'),
    idempotencyKey: request.header('idempotency-key'),
    async body() {
      const { bodies } = receiver;
      const body = await readBody(request, text ? textBytes(maxReport) : maxReport + headerBytes, bodies);
      bodies.release(body);
      const frame = text ? decodeBase64(body) : body;
      const message = readFrame(frame, request.header('grpc-encoding'), maxReport);
      bodies.hold(message);
      return message;
    },
    check(message) {
      if (message.length > maxReport) throw tooLarge(maxReport);
      checkDeadline(request.header('grpc-timeout'), clock.monotonic() - start);
    },
  };
}

/** What a frame of the longest message takes as base64 in a few pieces. */
function textBytes(maxReport: number): number {
  return 4 * Math.ceil((maxReport + headerBytes) / 3) + 16;
}

function reply(text: boolean, ...frames: readonly Buffer[]): Reply {
  const body = Buffer.concat(frames);
  if (!text) return { status: 200, headers: { 'content-type': 'application/grpc-web+proto' }, body };
  return {
    status: 200,
    headers: { 'content-type': 'application/grpc-web-text+proto' },
    body: body.toString('base64'),
  };
}
