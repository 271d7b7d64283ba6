import type { ApiError } from '../contract/errors.ts';
import type { RpcStatus } from '../grpc/status.ts';
import type { Group, Json } from '../http/endpoint.ts';
import type { Request } from '../http/types.ts';
import type { Intake, Transport } from './pipeline.ts';

/** A format of messages: what it adds to the service. Its routes in the ledger are in `src/contract/message-routes.ts`. */
export interface Format<in Deps = never> {
  /** Endpoints for pages and apps. The metrics host may serve them under a second path. */
  readonly pages?: (limits: BodyLimits) => readonly Group<Deps>[];
  readonly servers?: (limits: BodyLimits) => readonly Group<Deps>[];
  readonly calls?: readonly FormatCall<Deps>[];
  readonly securitySchemes?: Readonly<Record<string, Json>>;
  /** Describes in the OpenAPI document what its operations do not. */
  readonly introduction?: string;
}

export interface BodyLimits {
  /** Maximum length of a packet, inflated. */
  readonly maxBody: number;
  /** Maximum length of a report, inflated. */
  readonly maxReport: number;
}

export interface FormatCall<in Deps> {
  readonly service: string;
  /** `/Service/Method`. */
  readonly path: string;
  open<Incoming>(deps: Deps, transport: CallTransport<Incoming>): Intake<Incoming, CallAnswer>;
}

/** A message in its frame, or a refusal. */
export type CallAnswer = Buffer | RpcStatus;

/** Transport of gRPC and gRPC-Web calls. The format encodes the responses. */
export interface CallTransport<Incoming> extends Transport<Incoming> {
  headersOf(incoming: Incoming): Pick<Request, 'header'>;
  isRetry(incoming: Incoming): boolean;
  /** Refuses a call that has ended. @throws {ApiError} */
  check(incoming: Incoming): void;
  /** The part of the message received if `read` was not called or failed. */
  beginning(incoming: Incoming): Uint8Array | undefined;
  refuse(refusal: ApiError): CallAnswer;
}
