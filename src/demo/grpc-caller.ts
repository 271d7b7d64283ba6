import { type ClientHttp2Session, connect } from 'node:http2';
import { messageFrame } from '../grpc/frames.ts';

/** Sends messages to a gRPC server on one connection, as an SDK does. */
export interface GrpcCaller {
  /** Resolves when the call has ended, however it did. @param path `/Usage.Usage/SendStats` */
  call(path: string, message: Uint8Array, userAgent: string): Promise<void>;
  close(): void;
}

/** @param authority `HOST:PORT` of a server without TLS */
export function openGrpcCaller(authority: string): GrpcCaller {
  let session: ClientHttp2Session | undefined;
  const open = () => {
    const opened = connect(`http://${authority}`);
    opened.on('error', () => {}); // The close that follows is enough.
    opened.on('close', () => {
      if (session === opened) session = undefined;
    });
    session = opened;
    return opened;
  };
  return {
    call(path, message, userAgent) {
      const head = { ':method': 'POST', ':path': path, te: 'trailers' };
      return new Promise((resolve) => {
        const stream = (session ?? open()).request({
          ...head,
          'content-type': 'application/grpc',
          'user-agent': userAgent,
        });
        stream.on('error', () => {});
        stream.on('close', resolve);
        stream.resume();
        stream.end(messageFrame(message));
      });
    },
    close: () => session?.destroy(),
  };
}
