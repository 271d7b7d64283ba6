import type { Clock } from '../clock.ts';
import { ApiError, refusalOf } from '../errors.ts';
import type { ReportReceiver, Sender } from '../reports/report.ts';
import type { Arrival } from '../reports/take.ts';
import type { Call, Method } from './call.ts';
import { checkDeadline } from './deadline.ts';
import { headerBytes, isCompressed, messageIn } from './frames.ts';
import { type Operation, operations, pathOf } from './operations.ts';
import { statusOf } from './status.ts';

/** What the calls need of the rest of the service. */
export interface ReportDeps {
  readonly receiver: ReportReceiver;
  readonly clock: Clock;
  /** Most bytes of a message, inflated. */
  readonly maxReport: number;
  /** Told of every failure that is no refusal. It must not throw. */
  onError(error: unknown): void;
}

/** How much of a message that is not whole is searched for its sender. */
const beginningBytes = 64 * 1024;

/** The methods that take reports. */
export function reportMethods(deps: ReportDeps): Method[] {
  return operations.map((operation) => ({
    path: pathOf(operation),
    receive: (call, frame) => void serve(deps, operation, call, frame),
    refused(call, refusal) {
      const beginning = call.beginning(beginningBytes);
      const glimpse = beginning === undefined ? {} : operation.glimpse(beginning);
      deps.receiver.refused(refusal, operation.route, senderOf(call), glimpse);
    },
  }));
}

async function serve(deps: ReportDeps, operation: Operation, call: Call, frame: Buffer): Promise<void> {
  try {
    call.end(await operation.run(deps.receiver, arrivalOf(deps, call, frame)));
  } catch (error) {
    if (!(error instanceof ApiError)) deps.onError(error);
    call.fail(statusOf(refusalOf(error)));
  }
}

function arrivalOf({ receiver, clock, maxReport }: ReportDeps, call: Call, frame: Buffer): Arrival {
  const { headers, since } = call;
  return {
    ...senderOf(call),
    idempotencyKey: headers['idempotency-key'] as string | undefined,
    body: isCompressed(frame)
      ? async () => {
          const message = messageIn(frame, call.encoding, maxReport);
          receiver.bodies.hold(message);
          return message;
        }
      : frame.subarray(headerBytes),
    check() {
      if (call.closed) throw gone;
      checkDeadline(headers['grpc-timeout'] as string | undefined, clock.monotonic() - since);
    },
  };
}

const gone = new ApiError(
  'deadline_exceeded',
  'The call ended before its report was taken; nothing was counted',
);

/** SDKs name themselves in `UA`, because their gRPC library writes `user-agent`. */
function senderOf({ headers }: Call): Sender {
  return { transport: 'grpc', userAgent: (headers['ua'] ?? headers['user-agent']) as string | undefined };
}
