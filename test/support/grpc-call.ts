import { type CallOptions, type ChannelOptions, Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';

/** How a call ended. */
export interface Outcome {
  /** 0 when it succeeded. */
  readonly code: number;
  readonly details: string;
  readonly answer: Buffer | undefined;
  readonly trailers: Metadata;
}

const asTheyAre = (bytes: Buffer): Buffer => bytes;

/** @param address HOST:PORT of a server without TLS */
export function openClient(address: string, options: ChannelOptions = {}): Client {
  return new Client(address, credentials.createInsecure(), options);
}

/** Makes one unary call with encoded messages. It never rejects: the outcome has the status. */
export function call(
  client: Client,
  path: string,
  message: Buffer,
  { options = {}, metadata = {} }: { options?: CallOptions; metadata?: Record<string, string> } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    let answer: Buffer | undefined;
    const sent = Metadata.fromHttp2Headers(metadata);
    const onAnswer = (_: ServiceError | null, value?: Buffer) => {
      answer = value;
    };
    const made = client.makeUnaryRequest(path, asTheyAre, asTheyAre, message, sent, options, onAnswer);
    made.once('status', ({ code, details, metadata: trailers }) =>
      // The status arrives before the response is delivered.
      setImmediate(() => resolve({ code, details, answer, trailers })),
    );
  });
}
