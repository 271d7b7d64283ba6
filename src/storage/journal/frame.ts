import { crc32 } from 'node:zlib';

/**
 * A frame: checksum (u32), length of the body (u32), sequence number (u64), body; little-endian, padded with zeros to 8 bytes.
 * The checksum covers everything after it. It is seeded with the segment and the offset, so that an older frame in a recycled
 * segment is never valid: CRC-32 of the same bytes differs for different seeds.
 */
export interface Frame {
  /** Frames are numbered from 1, without gaps. */
  readonly sequence: number;
  readonly body: Uint8Array;
}

export const frameHeader = 16;
const alignment = 8;

export function frameSize(bodyLength: number): number {
  return Math.ceil((frameHeader + bodyLength) / alignment) * alignment;
}

/** The seed of the checksum of a frame. */
export function checksumStart(segment: { readonly seed: number }, offset: number): number {
  return (segment.seed ^ offset) >>> 0;
}

/** The target is large enough. Returns the end of the frame, without padding. */
export function encodeFrame(
  target: Buffer,
  sequence: number,
  parts: readonly Uint8Array[],
  start: number,
): number {
  let end = frameHeader;
  for (const part of parts) {
    target.set(part, end);
    end += part.length;
  }
  target.writeUInt32LE(end - frameHeader, 4);
  target.writeBigUInt64LE(BigInt(sequence), 8);
  target.writeUInt32LE(crc32(target.subarray(4, end), start), 0);
  return end;
}

export function claimedLength(header: Buffer): number {
  return header.readUInt32LE(4);
}

/** A write of frames ends with zeros up to the end of a page of this size. */
export const framePage = 4096;

/**
 * True if a frame was begun at an offset without a valid frame.
 * @param bytes from the offset on; long enough for the frame that its header claims, if the segment is
 * @param sequence the number that the frame would have
 */
export function isBegun(bytes: Buffer, offset: number, sequence: number, start: number): boolean {
  if (bytes.subarray(0, frameHeader).every((byte) => byte === 0)) return false;
  // Within a page, the write of the frame before has left zeros. A page of its own may have any bytes of a recycled segment.
  if (offset % framePage !== 0 || sequenceAt(bytes, 0) === sequence) return true;
  const repaired = Buffer.from(bytes);
  repaired.writeBigUInt64LE(BigInt(sequence), 8);
  return decodeFrame(repaired, start) !== undefined;
}

/** `undefined` if the checksum does not match. */
export function decodeFrame(bytes: Buffer, start: number): Frame | undefined {
  if (crc32(bytes.subarray(4), start) !== bytes.readUInt32LE(0)) return undefined;
  return { sequence: sequenceAt(bytes, 0), body: bytes.subarray(frameHeader) };
}

/**
 * The offsets in a buffer at which a frame may begin, by its sequence number. The buffer begins where a frame may.
 * @param first the lowest sequence number
 * @param count how many sequence numbers there are from that one on, less than 2^32
 */
export function likelyFrames(bytes: Buffer, first: number, count: number): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const found = [];
  for (let at = 0; at + frameHeader <= bytes.length; at += alignment) {
    // The low half first: a segment of 64 MiB has eight million offsets.
    const isNear = (view.getUint32(at + 8, true) - first) >>> 0 < count;
    if (isNear && sequenceAt(bytes, at) >= first && sequenceAt(bytes, at) < first + count) found.push(at);
  }
  return found;
}

const sequenceAt = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64LE(at + 8));
