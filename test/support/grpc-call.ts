import { type CallOptions, type ChannelOptions, Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';

/** The result of a gRPC call. */
export interface CallResult {
  /** Status code; 0 if the call succeeded. */
  readonly code: number;
  readonly details: string;
  readonly response: Buffer | undefined;
  readonly trailers: Metadata;
}

const asTheyAre = (bytes: Buffer): Buffer => bytes;

/** @param address HOST:PORT of a server without TLS */
export function openClient(address: string, options: ChannelOptions = {}): Client {
  return new Client(address, credentials.createInsecure(), options);
}

/** Makes one unary call with encoded messages. The promise never rejects, because the result contains the status. */
export function call(
  client: Client,
  path: string,
  message: Buffer,
  { options = {}, metadata = {} }: { options?: CallOptions; metadata?: Record<string, string> } = {},
): Promise<CallResult> {
  return new Promise((resolve) => {
    let response: Buffer | undefined;
    const sent = Metadata.fromHttp2Headers(metadata);
    const onResponse = (_: ServiceError | null, value?: Buffer) => {
      response = value;
    };
    const made = client.makeUnaryRequest(path, asTheyAre, asTheyAre, message, sent, options, onResponse);
    made.once('status', ({ code, details, metadata: trailers }) =>
      // The status event can come before the response. Waiting for one event loop turn lets the response arrive.
      setImmediate(() => resolve({ code, details, response, trailers })),
    );
  });
}
