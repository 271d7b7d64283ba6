import {
  Metadata,
  type Server,
  type ServerErrorResponse,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import { Refusal, refusalOf } from '../errors.ts';
import { methodOf } from './grpc-method.ts';
import { checkLength, type Operation, operations, pathOf } from './grpc-operations.ts';
import { type RpcStatus, statusOf } from './grpc-status.ts';
import type { ReportReceiver } from './report.ts';
import type { Arrival } from './take-report.ts';

/** What the calls need of the rest of the service. */
export interface ReportParts {
  readonly receiver: ReportReceiver;
  readonly clock: Clock;
  /** Most bytes of a message, inflated. */
  readonly maxReport: number;
  /** Told of every failure that is no refusal. It must not throw. */
  onError(error: unknown): void;
}

type Call = ServerUnaryCall<Buffer, Buffer>;

/** Serves the operations that take reports. */
export function addReports(server: Server, parts: ReportParts): void {
  for (const operation of operations) {
    const { service, method } = operation;
    const definition = { [method]: methodOf(pathOf({ service, method })) };
    server.addService(definition, {
      [method]: (call: Call, answer: sendUnaryData<Buffer>) => void serve(parts, operation, call, answer),
    });
  }
}

async function serve(
  parts: ReportParts,
  operation: Operation,
  call: Call,
  answer: sendUnaryData<Buffer>,
): Promise<void> {
  try {
    answer(null, await operation.run(parts.receiver, arrivalOf(parts, call)));
  } catch (error) {
    if (!(error instanceof Refusal)) parts.onError(error);
    answer(failure(statusOf(refusalOf(error))));
  }
}

function arrivalOf({ clock, maxReport }: ReportParts, call: Call): Arrival {
  const { metadata, request } = call;
  return {
    transport: 'grpc',
    userAgent: metadata.get('user-agent')[0]?.toString(),
    idempotencyKey: metadata.get('idempotency-key')[0]?.toString(),
    body: request,
    check() {
      checkLength(request, maxReport);
      checkDeadline(call, clock);
    },
  };
}

/** The timer that ends a call in time is late when the process is busy, so the clock is asked too. */
function checkDeadline(call: Call, clock: Clock): void {
  if (!call.cancelled && Number(call.getDeadline()) > clock.now()) return;
  throw new Refusal('deadline_exceeded', 'The call ended before its report was taken; nothing was counted');
}

function failure({ code, message, trailers }: RpcStatus): ServerErrorResponse {
  const metadata = new Metadata();
  for (const [name, value] of trailers) metadata.set(name, value);
  return { name: 'Error', code, message, details: message, metadata } as ServerErrorResponse;
}
