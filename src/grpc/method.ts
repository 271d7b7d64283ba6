import type { MethodDefinition } from '@grpc/grpc-js';

/** Which sides of a method send more than one message. */
export interface Streams {
  readonly requests?: boolean;
  readonly responses?: boolean;
}

const asTheyAre = (bytes: Buffer): Buffer => bytes;

/**
 * A method whose messages are handed over as bytes. Its handler reads them, and so decides what becomes of one that
 * cannot be read: grpc-js itself would answer INTERNAL.
 */
export function methodOf(path: string, streams: Streams = {}): MethodDefinition<Buffer, Buffer> {
  return {
    path,
    requestStream: streams.requests ?? false,
    responseStream: streams.responses ?? false,
    requestSerialize: asTheyAre,
    requestDeserialize: asTheyAre,
    responseSerialize: asTheyAre,
    responseDeserialize: asTheyAre,
  };
}
