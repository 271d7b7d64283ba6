import { ApiError } from '../errors.ts';
import { inflate } from '../http/body.ts';
import { type RpcStatus, statusFields } from './status.ts';

/**
 * How gRPC frames a message: a flag byte, the length as four bytes, the content. gRPC-Web sends trailers so, too.
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md
 */
export const headerBytes = 5;

const compressed = 0x01;
const trailers = 0x80;

/** Bytes of the frame that begins here. @param beginning at least its header */
export function frameBytes(beginning: Uint8Array): number {
  const length = (beginning[1]! << 24) | (beginning[2]! << 16) | (beginning[3]! << 8) | beginning[4]!;
  return headerBytes + (length >>> 0);
}

/**
 * The message of a body that is one frame.
 * @param encoding what the message is compressed with, where its flag says that it is: `grpc-encoding`
 * @param limit the most bytes that it may have, inflated
 * @throws {ApiError} `invalid_protobuf` unless that is one whole frame with a message; as `messageIn`
 */
export function readFrame(body: Uint8Array, encoding: string | undefined, limit: number): Uint8Array {
  if (!(body[0]! <= compressed) || body.length < headerBytes || frameBytes(body) !== body.length) {
    throw new ApiError(
      'invalid_protobuf',
      'The body must be one frame with a message: its flag, length and bytes',
    );
  }
  return isCompressed(body) ? messageIn(body, encoding, limit) : body.subarray(headerBytes);
}

/** Whether the message of a frame is compressed. */
export function isCompressed(frame: Uint8Array): boolean {
  return frame[0] !== 0;
}

/**
 * The message of a whole frame.
 * @throws {ApiError} `message_compressed`; `invalid_content_encoding`; `body_too_large`
 */
export function messageIn(frame: Uint8Array, encoding: string | undefined, limit: number): Uint8Array {
  const message = frame.subarray(headerBytes);
  if (!isCompressed(frame)) return message;
  if (encoding === undefined || encoding === 'gzip') return inflate(message, limit);
  if (encoding === 'deflate') return inflate(message, limit, 'deflate');
  throw new ApiError('message_compressed', 'Send the message as it is, or as gzip');
}

/** A frame with a message of an answer. */
export function messageFrame(message: Uint8Array): Buffer {
  return frame(0, message);
}

/** The last frame of an answer: how the call ended. */
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

const piece = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The bytes of a `-text` body: base64, in one or several padded pieces, one after the other.
 * @throws {ApiError} `invalid_protobuf` when it is none
 */
export function decodeBase64(body: Uint8Array): Uint8Array {
  const pieces = Buffer.from(body)
    .toString('latin1')
    .split(/(?<==)(?=[^=])/);
  if (!pieces.every((each) => each.length % 4 === 0 && piece.test(each))) {
    throw new ApiError('invalid_protobuf', 'The body must be base64, padded');
  }
  return Buffer.concat(pieces.map((each) => Buffer.from(each, 'base64')));
}
