import { Refusal } from '../contract/errors.ts';

/**
 * Header length of a gRPC frame: a flag byte and four bytes of length. gRPC-Web sends trailers in such a frame, too.
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md
 */
export const headerBytes = 5;

const compressed = 0x01;

/** Returns the length of a frame. @param beginning at least the header of the frame */
export function frameBytes(beginning: Uint8Array): number {
  const length = (beginning[1]! << 24) | (beginning[2]! << 16) | (beginning[3]! << 8) | beginning[4]!;
  return headerBytes + (length >>> 0);
}

export function isCompressed(frame: Uint8Array): boolean {
  return frame[0] !== 0;
}

/** @throws {Refusal} `invalid_protobuf` unless the body is exactly one complete message frame */
export function checkFrame(body: Uint8Array): void {
  if (body[0]! <= compressed && body.length >= headerBytes && frameBytes(body) === body.length) return;
  throw new Refusal('invalid_protobuf', 'The body must be one frame with a message: its flag, length and bytes');
}

/** Returns the compression of a message by its `grpc-encoding`. @throws {Refusal} `message_compressed` if unknown */
export function findInflater(encoding: string | undefined): 'gzip' | 'deflate' {
  if (encoding === undefined || encoding === 'gzip') return 'gzip';
  if (encoding === 'deflate') return encoding;
  throw new Refusal('message_compressed', 'Send the message uncompressed or as gzip');
}

const base64Segment = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Decodes a `-text` body of gRPC-Web: base64, in one or several padded segments.
 * @throws {Refusal} `invalid_protobuf` if the body is not base64
 */
export function decodeBase64(body: Uint8Array): Uint8Array {
  const segments = Buffer.from(body)
    .toString('latin1')
    .split(/(?<==)(?=[^=])/);
  if (!segments.every((each) => each.length % 4 === 0 && base64Segment.test(each))) {
    throw new Refusal('invalid_protobuf', 'The body must be base64, padded');
  }
  return Buffer.concat(segments.map((each) => Buffer.from(each, 'base64')));
}
