import { inflate } from '../http/body.ts';
import { headerBytes, inflaterOf, isCompressed } from '../http/grpc-frame.ts';
import { type RpcStatus, statusFields } from './status.ts';

const trailers = 0x80;

/**
 * The message of a complete frame.
 * @param encoding `grpc-encoding`
 * @param limit maximum decompressed length in bytes
 * @throws {ApiError} `message_compressed`; `invalid_content_encoding`; `body_too_large`
 */
export function messageIn(frame: Uint8Array, encoding: string | undefined, limit: number): Uint8Array {
  const message = frame.subarray(headerBytes);
  return isCompressed(frame) ? inflate(message, limit, inflaterOf(encoding)) : message;
}

export function messageFrame(message: Uint8Array): Buffer {
  return frame(0, message);
}

/** The last frame of an answer, with the status of the call. */
export function trailersFrame(status: RpcStatus): Buffer {
  const lines = statusFields(status).map(([name, value]) => `${name}: ${value}`);
  return frame(trailers, Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1'));
}

function frame(flag: number, content: Uint8Array): Buffer {
  const header = Buffer.alloc(headerBytes);
  header[0] = flag;
  header.writeUInt32BE(content.length, 1);
  return Buffer.concat([header, content]);
}
