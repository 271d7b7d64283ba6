import {
  Metadata,
  type Server,
  type ServerErrorResponse,
  type ServerUnaryCall,
  type StatusObject,
  type sendUnaryData,
} from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import { ApiError, refusalOf } from '../errors.ts';
import type { ReportReceiver } from '../reports/report.ts';
import type { Arrival } from '../reports/take.ts';
import type { OpenCall } from './guard.ts';
import { methodOf } from './method.ts';
import { type Operation, operations, pathOf } from './operations.ts';
import { type RpcStatus, statusOf } from './status.ts';
import { headerBytes } from './web-frames.ts';

/** What the calls need of the rest of the service. */
export interface ReportDeps {
  readonly receiver: ReportReceiver;
  readonly clock: Clock;
  /** Most bytes of a message, inflated. */
  readonly maxReport: number;
  /** Told of every failure that is no refusal. It must not throw. */
  onError(error: unknown): void;
}

type Call = ServerUnaryCall<Buffer, Buffer>;

const operationAt = new Map(operations.map((operation) => [pathOf(operation), operation]));

/** Records in the ledger a call that is refused before its handler runs, and gives the status to end it with. */
export function refuseEarly(
  { receiver }: ReportDeps,
  refusal: ApiError,
  { path, metadata, head }: OpenCall,
): StatusObject {
  const operation = operationAt.get(path);
  if (operation !== undefined) {
    const sender = { transport, userAgent: senderNameOf(metadata) };
    // A frame that is compressed begins with 1.
    const glimpse = head?.[0] === 0 ? operation.glimpse(head.subarray(headerBytes)) : {};
    receiver.refused(refusal, operation.route, sender, glimpse);
  }
  return statusObjectOf(statusOf(refusal));
}

const transport = 'grpc' as const;

/** SDKs name themselves in `UA`, for `user-agent` is what their gRPC library makes of it. */
function senderNameOf(metadata: Metadata): string | undefined {
  return (metadata.get('ua')[0] ?? metadata.get('user-agent')[0])?.toString();
}

/** Serves the operations that take reports. */
export function addReports(server: Server, parts: ReportDeps): void {
  for (const operation of operations) {
    const { service, method } = operation;
    const definition = { [method]: methodOf(pathOf({ service, method })) };
    server.addService(definition, {
      [method]: (call: Call, answer: sendUnaryData<Buffer>) => void serve(parts, operation, call, answer),
    });
  }
}

async function serve(
  parts: ReportDeps,
  operation: Operation,
  call: Call,
  answer: sendUnaryData<Buffer>,
): Promise<void> {
  try {
    answer(null, await operation.run(parts.receiver, arrivalOf(parts, call)));
  } catch (error) {
    if (!(error instanceof ApiError)) parts.onError(error);
    answer(failure(statusOf(refusalOf(error))));
  }
}

function arrivalOf({ clock }: ReportDeps, call: Call): Arrival {
  const { metadata, request } = call;
  return {
    transport,
    userAgent: senderNameOf(metadata),
    idempotencyKey: metadata.get('idempotency-key')[0]?.toString(),
    body: request,
    check() {
      checkDeadline(call, clock);
    },
  };
}

/** The timer that ends a call in time is late when the process is busy, so the clock is asked too. */
function checkDeadline(call: Call, clock: Clock): void {
  if (!call.cancelled && Number(call.getDeadline()) > clock.now()) return;
  throw new ApiError('deadline_exceeded', 'The call ended before its report was taken; nothing was counted');
}

function failure(rpc: RpcStatus): ServerErrorResponse {
  const { code, details, metadata } = statusObjectOf(rpc);
  return { name: 'Error', code, message: details, details, metadata } as ServerErrorResponse;
}

function statusObjectOf({ code, message, trailers }: RpcStatus): StatusObject {
  const metadata = new Metadata();
  for (const [name, value] of trailers) metadata.set(name, value);
  return { code, details: message, metadata };
}
