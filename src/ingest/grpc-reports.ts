import {
  Metadata,
  type Server,
  type ServerErrorResponse,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import { Refusal } from '../errors.ts';
import { methodOf } from './grpc-method.ts';
import { type Operation, operations, pathOf } from './grpc-operations.ts';
import { internalStatus, type RpcStatus, statusOf } from './grpc-status.ts';
import { checkIdempotencyKey } from './message-identity.ts';
import type { ReportReceiver, Sender } from './report.ts';

/** What the calls need of the rest of the service. */
export interface ReportParts {
  readonly receiver: ReportReceiver;
  readonly clock: Clock;
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
  { receiver, clock, onError }: ReportParts,
  operation: Operation,
  call: Call,
  answer: sendUnaryData<Buffer>,
): Promise<void> {
  try {
    receiver.admit();
    const checkWanted = () => checkDeadline(call, clock);
    const report = { message: call.request, sender: senderOf(call), checkWanted };
    answer(null, await operation.run(report, receiver));
  } catch (error) {
    if (!(error instanceof Refusal)) onError(error);
    answer(failure(error instanceof Refusal ? statusOf(error) : internalStatus));
  }
}

function senderOf({ metadata }: Call): Sender {
  const userAgent = metadata.get('user-agent')[0]?.toString();
  const idempotencyKey = checkIdempotencyKey(metadata.get('idempotency-key')[0]?.toString());
  return { transport: 'grpc', userAgent, idempotencyKey };
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
