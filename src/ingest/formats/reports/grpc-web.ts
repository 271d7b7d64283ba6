import { Refusal } from '../../../contract/errors.ts';
import { attemptsHeader, checkDeadline, isRetry, ok, toRpcStatus, trailersFrame } from '../../../grpc/protocol.ts';
import { contentCoding, overhead } from '../../../http/body.ts';
import type { Group } from '../../../http/endpoint.ts';
import { checkFrame, headerBytes, isCompressed } from '../../../http/grpc-frame.ts';
import { problem } from '../../../http/responses.ts';
import { type Layer, SentBody } from '../../../http/sent-body.ts';
import { DisconnectError, type HttpResponse, type Request } from '../../../http/types.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { toRefusal } from '../../../runtime/failures.ts';
import { readSenderName } from '../../declared.ts';
import type { Intake } from '../../pipeline.ts';
import { encodeResponse, operations, type ReportTransport } from './intake.ts';
import type { ReportKinds } from './kinds.ts';

export interface GrpcWebDeps {
  readonly reportKinds: ReportKinds;
  readonly clock: Clock;
  readonly maxReport: number;
  /** Called for every failure that is not a refusal. Must not throw. */
  onError(error: unknown): void;
}

interface WebCall {
  readonly request: Request;
  readonly since: number;
  /** True if the bodies are base64. */
  readonly text: boolean;
}

/** Endpoints for servers: no response has CORS headers. */
export const grpcWeb: Group<GrpcWebDeps> = {
  tag: 'gRPC-Web',
  description: 'The operations of gRPC, over HTTP.',
  endpoints: operations.map((operation) => ({
    method: 'POST',
    path: operation.path,
    access: { credential: 'Any application key in the message', who: 'Servers of the application' },
    bind(deps) {
      const intake = operation.open(deps.reportKinds, webTransport(deps));
      return (request) => receive(deps, intake, request);
    },
  })),
};

const contentType = /^\s*application\/grpc-web(-text)?(?:\+proto)?\s*(?:;|$)/i;

/** Responds to a call. The last frame of the body holds the call's status. The HTTP status is always 200. */
async function receive(
  { clock, onError }: GrpcWebDeps,
  intake: Intake<WebCall, HttpResponse>,
  request: Request,
): Promise<HttpResponse> {
  const type = contentType.exec(request.header('content-type') ?? '');
  const call = { request, since: clock.monotonic(), text: type?.[1] !== undefined };
  if (type === null) {
    const refusal = new Refusal('unsupported_media_type', 'Send application/grpc-web');
    intake.refused(call, refusal);
    return problem(refusal);
  }
  try {
    return await intake.receive(call);
  } catch (error) {
    if (error instanceof DisconnectError) throw error;
    onError(error);
    return respond(call, trailersFrame(toRpcStatus(toRefusal(error))));
  }
}

function webTransport({ clock, maxReport }: GrpcWebDeps): ReportTransport<WebCall, HttpResponse> {
  return {
    transport: 'grpc-web',
    userAgent: ({ request }) => readSenderName(request) ?? request.header('x-user-agent'),
    idempotencyKey: ({ request }) => request.header('idempotency-key'),
    isRetry: ({ request }) => isRetry(request.header(attemptsHeader)),
    address: ({ request }) => request.remoteAddress,
    async read({ request, text }, budget) {
      const coding = contentCoding(request);
      const limit = text ? textBytes(maxReport) : maxReport + headerBytes;
      const body = await request.body(coding === undefined ? limit : limit + overhead(limit), budget);
      const outer: Layer[] = coding === undefined ? [] : [{ kind: coding }];
      if (text) outer.push({ kind: 'base64' });
      if (outer.length === 0) checkFrame(body);
      if (outer.length > 0 || isCompressed(body)) {
        return new SentBody(body, [...outer, { kind: 'frame', encoding: request.header('grpc-encoding') }], maxReport);
      }
      budget.release(body);
      const message = body.subarray(headerBytes);
      budget.hold(message);
      return message;
    },
    check: ({ request, since }) => checkDeadline(request.header('grpc-timeout'), clock.monotonic() - since),
    accept: (statCount, call) => respond(call, encodeResponse(statCount), trailersFrame(ok)),
    refuse: (refusal, call) => respond(call, trailersFrame(toRpcStatus(refusal))),
  };
}

/** Returns the base64 length of a frame with the longest message, with room for several padded segments. */
function textBytes(maxReport: number): number {
  return 4 * Math.ceil((maxReport + headerBytes) / 3) + 16;
}

function respond({ text }: WebCall, ...frames: readonly Buffer[]): HttpResponse {
  const body = Buffer.concat(frames);
  if (!text) return { status: 200, headers: { 'content-type': 'application/grpc-web+proto' }, body };
  return { status: 200, headers: { 'content-type': 'application/grpc-web-text+proto' }, body: body.toString('base64') };
}
