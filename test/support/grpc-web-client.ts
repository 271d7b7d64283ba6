import type { DescService, Message } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcWebTransport } from '@connectrpc/connect-node';

/** The result of a gRPC-Web call. */
export interface WebCallResult {
  /** Name of the gRPC status; `OK` if the call succeeded. */
  readonly status: string;
  readonly message: string;
  readonly response: Message | undefined;
  readonly trailers: Headers;
}

/** Calls a service's only operation by gRPC-Web over HTTP/1.1. */
export async function callByWeb(
  baseUrl: string,
  service: DescService,
  message: Message,
  { headers = {}, timeoutMs }: { headers?: Record<string, string>; timeoutMs?: number } = {},
): Promise<WebCallResult> {
  const transport = createGrpcWebTransport({ baseUrl, httpVersion: '1.1' });
  const client = createClient(service, transport) as Record<string, (...given: unknown[]) => Promise<Message>>;
  let trailers = new Headers();
  const onTrailer = (received: Headers) => {
    trailers = received;
  };
  const method = service.methods[0]!.localName;
  try {
    const response = await client[method]!(message, { headers, timeoutMs, onTrailer });
    return { status: 'OK', message: '', response, trailers };
  } catch (error) {
    const { code, rawMessage, metadata } = ConnectError.from(error);
    return { status: Code[code]!, message: rawMessage, response: undefined, trailers: metadata };
  }
}
