import type { Clock } from '../clock.ts';
import { Refusal } from '../errors.ts';
import { readBody } from '../http/body.ts';
import { problem } from '../http/problem.ts';
import { ClientGone, type Reply, type Request, type Route } from '../http/types.ts';
import { type Operation, operations, pathOf } from './grpc-operations.ts';
import { internalStatus, type RpcStatus, statusOf } from './grpc-status.ts';
import { decodeBase64, headerBytes, messageFrame, readFrame, trailersFrame } from './grpc-web-frames.ts';
import { checkIdempotencyKey } from './message-identity.ts';
import type { ReportReceiver, Sender } from './report.ts';

/** What the routes need of the rest of the service. */
export interface GrpcWebParts {
  readonly receiver: ReportReceiver;
  readonly clock: Clock;
  /** Most bytes of a message. */
  readonly maxBody: number;
  /** Told of every failure that is no refusal. It must not throw. */
  onError(error: unknown): void;
}

/** The operations that take reports, as gRPC-Web over HTTP. They are for servers, so no page may call them: no CORS. */
export function grpcWebRoutes(parts: GrpcWebParts): readonly Route[] {
  return operations.map((operation) => ({
    method: 'POST',
    path: pathOf(operation),
    handle: (request) => receive(parts, operation, request),
  }));
}

const contentType = /^\s*application\/grpc-web(-text)?(?:\+proto)?\s*(?:;|$)/i;

/** The status of a call is in the last frame of the body, so the HTTP status is 200 whatever it is. */
async function receive(parts: GrpcWebParts, operation: Operation, request: Request): Promise<Reply> {
  const type = contentType.exec(request.header('content-type') ?? '');
  if (type === null) return problem(new Refusal('unsupported_media_type', 'Send application/grpc-web'));
  const text = type[1] !== undefined;
  try {
    const answer = await run(parts, operation, request, text);
    return reply(text, messageFrame(answer), trailersFrame(ok));
  } catch (error) {
    if (error instanceof ClientGone) throw error;
    if (error instanceof Refusal) return reply(text, trailersFrame(statusOf(error)));
    parts.onError(error);
    return reply(text, trailersFrame(internalStatus));
  }
}

const ok: RpcStatus = { code: 0, message: '', trailers: [] };

async function run(
  { receiver, clock, maxBody }: GrpcWebParts,
  operation: Operation,
  request: Request,
  text: boolean,
): Promise<Uint8Array> {
  const deadline = clock.monotonic() + timeoutOf(request.header('grpc-timeout'));
  receiver.admit();
  const body = await readBody(request, text ? textBytes(maxBody) : maxBody + headerBytes);
  const message = readFrame(text ? decodeBase64(body) : body);
  if (message.length > maxBody) {
    throw new Refusal('body_too_large', `A message may have ${maxBody} bytes at most`);
  }
  const checkWanted = () => {
    if (clock.monotonic() < deadline) return;
    throw new Refusal(
      'deadline_exceeded',
      'The deadline passed before the report was taken; nothing was counted',
    );
  };
  return operation.run({ message, sender: senderOf(request), checkWanted }, receiver);
}

function senderOf(request: Request): Sender {
  const userAgent = request.header('user-agent') ?? request.header('x-user-agent');
  const idempotencyKey = checkIdempotencyKey(request.header('idempotency-key'));
  return { transport: 'grpc-web', userAgent, idempotencyKey };
}

/** What a frame of the longest message takes as base64 in a few pieces. */
function textBytes(maxBody: number): number {
  return 4 * Math.ceil((maxBody + headerBytes) / 3) + 16;
}

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Milliseconds of a `grpc-timeout` (gRPC over HTTP/2, "Timeout"); for ever without one. @throws {Refusal} */
function timeoutOf(header: string | undefined): number {
  if (header === undefined) return Number.POSITIVE_INFINITY;
  const [, value, unit] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? [];
  if (value === undefined) throw new Refusal('invalid_protobuf', 'grpc-timeout must be like 500m');
  return Number(value) * unitMs[unit!]!;
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
