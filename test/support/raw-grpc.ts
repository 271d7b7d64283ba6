import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';

/** A connection to a gRPC server for incomplete calls. */
export interface RawGrpc {
  readonly session: ClientHttp2Session;
  /** Begins a call without sending its message. */
  begin(path: string, headers?: Record<string, string>): ClientHttp2Stream;
  close(): void;
}

/**
 * @param address HOST:PORT of a server without TLS
 * @param window number of bytes that the server may send of each response
 */
export function openRawGrpc(address: string, window = 65_535): RawGrpc {
  const session = connect(`http://${address}`, { settings: { initialWindowSize: window } });
  session.on('error', () => {});
  return {
    session,
    begin(path, headers = {}) {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...headers,
      });
      stream.on('error', () => {});
      stream.resume();
      return stream;
    },
    close: () => session.destroy(),
  };
}

export function grpcFrame(message: Uint8Array, flag = 0): Buffer {
  const head = Buffer.from([flag, 0, 0, 0, 0]);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Waits for the end of a call. @returns its status and flagmeter's error code */
export async function readEnd(
  stream: ClientHttp2Stream,
): Promise<{ status: number; code: string | undefined; reset: number }> {
  const closed = once(stream, 'close');
  const trailed = new Promise<Record<string, string>>((resolve) => {
    stream.on('response', (headers) => void ('grpc-status' in headers && resolve(headers as never)));
    stream.on('trailers', (headers) => resolve(headers as never));
  });
  const trailers = await trailed;
  await closed;
  // A Node session that is destroyed while it reads would loop forever.
  await new Promise((resolve) => setImmediate(resolve));
  const code = trailers['flagmeter-code'];
  return { status: Number(trailers['grpc-status']), code, reset: stream.rstCode ?? constants.NGHTTP2_NO_ERROR };
}
