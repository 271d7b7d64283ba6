import { ApiError } from '../../contract/errors.ts';
import type { Call, Method } from '../../grpc/call.ts';
import { messageFrame } from '../../grpc/frames.ts';
import { attemptsHeader, checkDeadline, isRetry } from '../../grpc/metadata.ts';
import { type RpcStatus, statusOf } from '../../grpc/status.ts';
import { headerBytes, inflaterOf, isCompressed } from '../../http/grpc-frame.ts';
import { SentBody } from '../../http/sent-body.ts';
import type { Clock } from '../../runtime/clock.ts';
import { refusalOf } from '../../runtime/failures.ts';
import { notStarted } from '../admission.ts';
import { partialSuccess } from '../otlp/answer.ts';
import { type OtlpDeps, openOtlp } from '../otlp/handler.ts';
import type { ReportIntake, ReportTransport } from '../reports/intake.ts';
import type { ReportKinds } from '../reports/kinds.ts';
import { answerOf, operations, otlpExports } from './operations.ts';

export interface CallDeps {
  readonly clock: Clock;
  /** Maximum size of a decompressed message, in bytes. */
  readonly maxReport: number;
  /** Called for every failure that is not a refusal. Must not throw. */
  onError(error: unknown): void;
}

/** A call with a message, and its frame until that is read. */
interface IncomingCall {
  readonly call: Call;
  frame: Buffer | undefined;
}

type Answer = Buffer | RpcStatus;
type CallIntake = Pick<ReportIntake<IncomingCall, Answer>, 'receive' | 'refused'>;

/** The methods that take data. They refuse calls until `begin`: gRPC listens before the service is ready. */
export class IntakeMethods {
  readonly methods: readonly Method[];
  readonly #deps: CallDeps;
  /** By path. */
  readonly #intakes = new Map<string, CallIntake>();

  constructor(deps: CallDeps) {
    this.#deps = deps;
    this.methods = [...operations, ...otlpExports].map(({ path }) => ({
      path,
      receive: (call, frame) => this.#receive(path, { call, frame }),
      refused: (call, refusal) => this.#intakes.get(path)?.refused({ call, frame: undefined }, refusal),
    }));
  }

  /** @param otlp takes the exports of OpenTelemetry; without it they stay refused */
  begin(reports: ReportKinds, otlp?: OtlpDeps): void {
    const transport = grpcTransport(this.#deps);
    for (const { path, open } of operations) this.#intakes.set(path, open(reports, transport));
    if (otlp === undefined) return;
    const exports = { ...transport, ...otlpAnswers };
    for (const { path, signal } of otlpExports) this.#intakes.set(path, openOtlp(otlp, signal, exports));
  }

  #receive(path: string, incoming: IncomingCall): void {
    const intake = this.#intakes.get(path);
    const { call } = incoming;
    try {
      const answer = intake === undefined ? statusOf(notStarted) : intake.receive(incoming);
      if (!(answer instanceof Promise)) send(call, answer);
      else {
        answer.then(
          (answered) => send(call, answered),
          (error) => this.#fail(call, error),
        );
      }
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #fail(call: Call, error: unknown): void {
    this.#deps.onError(error);
    call.fail(statusOf(refusalOf(error)));
  }
}

function send(call: Call, answer: Answer): void {
  if ('code' in answer) call.fail(answer);
  else call.end(answer);
}

/** Bytes of an incomplete message that are searched for its sender. */
const beginningBytes = 4096;

function grpcTransport({ clock, maxReport }: CallDeps): ReportTransport<IncomingCall, Answer> {
  return {
    transport: 'grpc',
    // SDKs identify themselves in `UA`, because their gRPC library writes `user-agent`.
    userAgent: ({ call }) => call.header('ua') ?? call.header('user-agent'),
    idempotencyKey: ({ call }) => call.header('idempotency-key'),
    isRetry: ({ call }) => isRetry(call.header(attemptsHeader)),
    address: ({ call }) => call.connection.socket.remoteAddress ?? '',
    read(incoming, budget) {
      const frame = incoming.frame!;
      incoming.frame = undefined; // Freed while the report waits for the disk.
      if (!isCompressed(frame)) {
        const message = frame.subarray(headerBytes);
        budget.hold(message);
        return message;
      }
      const encoding = incoming.call.header('grpc-encoding');
      inflaterOf(encoding);
      budget.hold(frame);
      return new SentBody(frame, [{ kind: 'frame', encoding }], maxReport);
    },
    check({ call }) {
      if (call.closed) throw gone;
      checkDeadline(call.header('grpc-timeout'), clock.monotonic() - call.since);
    },
    beginning({ call, frame }) {
      if (frame === undefined) return call.beginning(beginningBytes);
      return isCompressed(frame) ? undefined : frame.subarray(headerBytes);
    },
    accept: answerOf,
    refuse: statusOf,
  };
}

const gone = new ApiError(
  'deadline_exceeded',
  'The call ended before its message was accepted; nothing was counted',
);

/** The parts of a transport that differ for export requests. Their key is in the metadata. */
const otlpAnswers = {
  headersOf: ({ call }: IncomingCall) => call,
  encodingOf: () => 'protobuf' as const,
  accept: (rejected: number, message: string) => messageFrame(partialSuccess(rejected, message)),
};
