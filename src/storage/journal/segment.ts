import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { JournalDamageError } from './errors.ts';
import type { JournalFile, JournalFiles } from './files.ts';

/**
 * A journal: a directory of segments, which are files of a fixed size, initially zeros. `JournalWriter` appends frames
 * to the newest segment, on a separate thread. On another thread, `JournalReader` reads frames for the store, `recycle`
 * turns folded segments into spares, and `prepareSpare` makes the first spare. The writer turns a spare into its next
 * segment.
 */
export interface Journal {
  readonly files: JournalFiles;
  /** 16 random bytes, which the store of the same data directory records. */
  readonly id: Uint8Array;
  /** Bytes, a multiple of 4 KiB, at most 1 GiB. */
  readonly segmentSize: number;
}

/** A file of frames with consecutive sequence numbers. */
export interface Segment {
  readonly name: string;
  /** Number of the segment, ascending in the order in which segments were begun. */
  readonly generation: number;
  readonly first: number;
  /** Size of the file in bytes, which never changes. */
  readonly size: number;
  /** The segment's part of the seed for the checksums of its frames. */
  readonly seed: number;
}

export interface JournalPosition {
  readonly generation: number;
  readonly offset: number;
  /** The sequence number of the last frame before this position; 0 without such a frame. */
  readonly sequence: number;
}

/** The first bytes of a segment are its header. Frames begin after it, on a separate page. */
export const headerBlock = 4096;
const layout = 1;
const magic = Buffer.from('flagmtrJ');
/**
 * Offsets of the fields of a header: magic (8 bytes), layout (u32), 4 unused bytes, id (16), generation, size and first
 * sequence number (u64 each), checksum (u32).
 */
const fields = { layout: 8, id: 16, generation: 32, size: 40, first: 48, checksum: 56 };
const headerSize = 60;

/** The names of files. A spare is named after the generation of its earlier frames, or 0 if the spare is new. */
const pad = (generation: number) => String(generation).padStart(10, '0');
export const segmentName = (generation: number) => `${pad(generation)}.segment`;
export const spareName = (generation: number) => `spare-${pad(generation)}`;

export function segmentNames(names: readonly string[]): string[] {
  return names.filter((name) => /^\d{10}\.segment$/.test(name)).sort();
}

export function spareNames(names: readonly string[]): string[] {
  return names.filter((name) => /^spare-\d{10}$/.test(name)).sort();
}

/**
 * The name of an empty file that ends a segment before the frame with a sequence number. The file invalidates a refused
 * frame whose header cannot be overwritten.
 */
export const refusalName = (generation: number, sequence: number) => `refused-${pad(generation)}-${sequence}`;

/** The first refused frame of each segment, by generation. A segment has no other frame after a refused frame. */
export function refusedFrames(names: readonly string[]): ReadonlyMap<number, number> {
  const numbers = names.map((name) => /^refused-(\d{10})-(\d+)$/.exec(name)?.slice(1).map(Number));
  return new Map(numbers.filter((pair) => pair !== undefined) as [number, number][]);
}

/** Returns a generation that no frame in these files has. */
export function nextGeneration(names: readonly string[]): number {
  const used = [...segmentNames(names), ...spareNames(names)].map((name) => Number(name.replace(/\D/g, '')));
  return 1 + Math.max(0, ...used, ...refusedFrames(names).keys());
}

export function describeSegment(id: Uint8Array, generation: number, first: number, size: number): Segment {
  const key = Buffer.alloc(id.length + 8);
  key.set(id);
  key.writeBigUInt64LE(BigInt(generation), id.length);
  return { name: segmentName(generation), generation, first, size, seed: crc32(key) };
}

export function encodeHeader(id: Uint8Array, { generation, size, first }: Segment): Buffer {
  const header = Buffer.alloc(headerBlock);
  header.set(magic);
  header.writeUInt32LE(layout, fields.layout);
  header.set(id, fields.id);
  header.writeBigUInt64LE(BigInt(generation), fields.generation);
  header.writeBigUInt64LE(BigInt(size), fields.size);
  header.writeBigUInt64LE(BigInt(first), fields.first);
  header.writeUInt32LE(crc32(header.subarray(0, fields.checksum)), fields.checksum);
  return header;
}

/**
 * The segments in the order in which they were begun.
 * @throws {JournalDamageError} if a segment was changed, or belongs to another journal
 */
export function readSegments(journal: Journal): Segment[] {
  return segmentNames(journal.files.list()).map((name) => readHeader(journal, name));
}

function readHeader(journal: Journal, name: string): Segment {
  const header = loadHeader(journal, name);
  const number = (offset: number) => Number(header.readBigUInt64LE(offset));
  const isWhole = crc32(header.subarray(0, fields.checksum)) === header.readUInt32LE(fields.checksum);
  if (!isWhole || !magic.equals(header.subarray(0, magic.length)))
    throw damage(journal, name, 0, 'its header is damaged');
  const version = header.readUInt32LE(fields.layout);
  if (version !== layout) throw later(journal, name, version);
  if (Buffer.compare(header.subarray(fields.id, fields.generation), journal.id) !== 0) throw foreign(journal, name);
  const generation = number(fields.generation);
  if (segmentName(generation) !== name) throw damage(journal, name, 0, `it is a copy of ${segmentName(generation)}`);
  const size = number(fields.size);
  const found = journal.files.size(name) ?? 0;
  if (found !== size) throw damage(journal, name, found, `it has ${found} bytes instead of ${size}`);
  return describeSegment(journal.id, generation, number(fields.first), size);
}

function loadHeader(journal: Journal, name: string): Buffer {
  const header = Buffer.alloc(headerSize);
  const file = journal.files.open(name, 'read');
  try {
    readAt(journal, name, file, header, 0);
  } finally {
    file.close();
  }
  return header;
}

/** Reads from a segment as `JournalFile.read` does. @throws {JournalDamageError} if the disk cannot read the segment */
export function readAt(journal: Journal, name: string, file: JournalFile, target: Uint8Array, offset: number): number {
  try {
    return file.read(target, offset);
  } catch (error) {
    throw damage(journal, name, offset, `it cannot be read (${(error as Error).message})`);
  }
}

export function damage({ files }: Journal, name: string, offset: number, reason: string): JournalDamageError {
  const remedy =
    'Restore a backup. To start without the packets that were not yet folded into the store, move the journal away';
  return new JournalDamageError(placeIn(files, name, offset), reason, remedy);
}

function foreign({ files }: Journal, name: string): JournalDamageError {
  const reason = 'it belongs to another data directory';
  return new JournalDamageError(placeIn(files, name), reason, 'Move it back to that directory');
}

function later({ files }: Journal, name: string, version: number): JournalDamageError {
  const reason = `it has layout ${version}, but this version of flagmeter reads layout ${layout}`;
  return new JournalDamageError(placeIn(files, name), reason, 'Start the version that wrote it');
}

export function placeIn({ directory }: JournalFiles, name: string, offset = 0): string {
  return `journal segment ${join(directory, name)} at offset ${offset}`;
}

/**
 * A frame: checksum (u32), length of the body (u32), sequence number (u64), body; little-endian, padded with zeros to 8
 * bytes. The checksum covers the rest of the frame. It is seeded with the segment and the offset. CRC-32 of the same
 * bytes differs for different seeds, so an older frame in a recycled segment is never valid.
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

/** Encodes a frame into a target that is large enough. Returns the end of the frame, without padding. */
export function encodeFrame(target: Buffer, sequence: number, chunks: readonly Uint8Array[], start: number): number {
  let end = frameHeader;
  for (const chunk of chunks) {
    target.set(chunk, end);
    end += chunk.length;
  }
  target.writeUInt32LE(end - frameHeader, 4);
  target.writeBigUInt64LE(BigInt(sequence), 8);
  target.writeUInt32LE(crc32(target.subarray(4, end), start), 0);
  return end;
}

export function claimedLength(header: Buffer): number {
  return header.readUInt32LE(4);
}

/** Size of a page. A write of frames is padded with zeros to whole pages. */
export const framePage = 4096;

/**
 * True if an incomplete frame begins at an offset.
 * @param bytes the bytes from the offset on. They include the whole frame that the header claims, unless the segment
 * ends earlier
 * @param sequence the number that the frame would have
 */
export function isBegun(bytes: Buffer, offset: number, sequence: number, start: number): boolean {
  if (bytes.subarray(0, frameHeader).every((byte) => byte === 0)) return false;
  // Inside a page, the previous write has left zeros, so other bytes are new. A new page can have old bytes of a
  // recycled segment.
  if (offset % framePage !== 0 || sequenceAt(bytes, 0) === sequence) return true;
  const repaired = Buffer.from(bytes);
  repaired.writeBigUInt64LE(BigInt(sequence), 8);
  return decodeFrame(repaired, start) !== undefined;
}

/** Decodes a frame; `undefined` if the checksum does not match. */
export function decodeFrame(bytes: Buffer, start: number): Frame | undefined {
  if (crc32(bytes.subarray(4), start) !== bytes.readUInt32LE(0)) return undefined;
  return { sequence: sequenceAt(bytes, 0), body: bytes.subarray(frameHeader) };
}

/**
 * The offsets in a buffer at which a frame can begin, judged by the sequence number there. The buffer begins at a
 * possible start of a frame.
 * @param first the lowest sequence number
 * @param count number of sequence numbers from `first` on, less than 2^32
 */
export function likelyFrames(bytes: Buffer, first: number, count: number): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const found = [];
  for (let at = 0; at + frameHeader <= bytes.length; at += alignment) {
    // The low half is compared first, which is faster: a segment of 64 MiB has eight million offsets.
    const isNear = (view.getUint32(at + 8, true) - first) >>> 0 < count;
    if (isNear && sequenceAt(bytes, at) >= first && sequenceAt(bytes, at) < first + count) found.push(at);
  }
  return found;
}

const sequenceAt = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64LE(at + 8));
