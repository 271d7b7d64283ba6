import { Refusal } from '../errors.ts';
import type { RpcStatus } from './grpc-status.ts';

/**
 * How gRPC-Web puts messages and trailers into HTTP bodies: a flag byte, the length as four bytes, the content.
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md
 */
export const headerBytes = 5;

const compressed = 0x01;
const trailers = 0x80;

/**
 * The one message of a request's body.
 * @throws {Refusal} `invalid_protobuf` unless that is one whole frame with a message; `message_compressed`
 */
export function readFrame(body: Uint8Array): Uint8Array {
  const flag = body[0];
  if (flag === compressed) {
    throw new Refusal(
      'message_compressed',
      'Send the message as it is, or the whole body with Content-Encoding',
    );
  }
  const message = body.subarray(headerBytes);
  if (flag === 0 && body.length >= headerBytes && lengthIn(body) === message.length) return message;
  throw new Refusal(
    'invalid_protobuf',
    'The body must be one frame with a message: 0, its length, its bytes',
  );
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
 * @throws {Refusal} `invalid_protobuf` when it is none
 */
export function decodeBase64(body: Uint8Array): Uint8Array {
  const pieces = Buffer.from(body)
    .toString('latin1')
    .split(/(?<==)(?=[^=])/);
  if (!pieces.every((each) => each.length % 4 === 0 && piece.test(each))) {
    throw new Refusal('invalid_protobuf', 'The body must be base64, padded');
  }
  return Buffer.concat(pieces.map((each) => Buffer.from(each, 'base64')));
}
