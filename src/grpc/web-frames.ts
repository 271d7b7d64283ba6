import { ApiError } from '../errors.ts';
import { inflate } from '../http/body.ts';
import type { RpcStatus } from './status.ts';

/**
 * How gRPC-Web puts messages and trailers into HTTP bodies: a flag byte, the length as four bytes, the content.
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md
 */
export const headerBytes = 5;

const compressed = 0x01;
const trailers = 0x80;

/**
 * The one message of a request's body.
 * @param encoding what the message is compressed with, where its flag says that it is: `grpc-encoding`
 * @param limit the most bytes that it may have, inflated
 * @throws {ApiError} `invalid_protobuf` unless that is one whole frame with a message; `message_compressed`;
 *   `invalid_content_encoding`; `body_too_large`
 */
export function readFrame(body: Uint8Array, encoding: string | undefined, limit: number): Uint8Array {
  const flag = body[0]!;
  const message = body.subarray(headerBytes);
  if (!(flag <= compressed) || body.length < headerBytes || lengthIn(body) !== message.length) {
    throw new ApiError(
      'invalid_protobuf',
      'The body must be one frame with a message: its flag, length and bytes',
    );
  }
  if (flag !== compressed) return message;
  if (encoding === undefined || encoding === 'gzip') return inflate(message, limit);
  throw new ApiError('message_compressed', 'Send the message as it is, or as gzip');
}

function lengthIn(frame: Uint8Array): number {
  return new DataView(frame.buffer, frame.byteOffset).getUint32(1);
}

/** A frame with a message of an answer. */
export function messageFrame(message: Uint8Array): Buffer {
  return frame(0, message);
}

/** The last frame of an answer: how the call ended. */
export function trailersFrame({ code, message, trailers: more }: RpcStatus): Buffer {
  const lines = [
    `grpc-status: ${code}`,
    ...(message === '' ? [] : [`grpc-message: ${percentEncode(message)}`]),
    ...more.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : unpadded(value)}`),
  ];
  return frame(trailers, Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1'));
}

function frame(flag: number, content: Uint8Array): Buffer {
  const header = Buffer.alloc(headerBytes);
  header[0] = flag;
  header.writeUInt32BE(content.length, 1);
  return Buffer.concat([header, content]);
}

/** Binary metadata (`-bin`) is sent without padding, as the gRPC protocol advises. */
function unpadded(value: Buffer): string {
  return value.toString('base64').replace(/=+$/, '');
}

/** All but printable ASCII, and the percent sign itself (gRPC over HTTP/2, "Percent-Encoded"). */
function percentEncode(message: string): string {
  const encoded = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  const plain = (byte: number) => byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
  return Array.from(Buffer.from(message), (byte) =>
    plain(byte) ? String.fromCharCode(byte) : encoded(byte),
  ).join('');
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
