import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { JournalDamaged } from './errors.ts';
import type { JournalFiles } from './files.ts';

/** A journal: a directory of segments that one writer appends frames to, and one reader reads. */
export interface Journal {
  readonly files: JournalFiles;
  /** 16 random bytes that the store of the same data directory keeps. */
  readonly id: Uint8Array;
  /** Bytes, a multiple of 4 KiB, at most 1 GiB. */
  readonly segmentSize: number;
}

/** A file of frames with consecutive sequence numbers. */
export interface Segment {
  readonly name: string;
  /** Ascending in the order in which segments were begun. */
  readonly generation: number;
  /** The sequence number of its first frame. */
  readonly first: number;
  /** Bytes of the file, which never change. */
  readonly size: number;
  /** Where the checksums of its frames start from. */
  readonly seed: number;
}

/** A place between two frames. */
export interface JournalPosition {
  readonly generation: number;
  readonly offset: number;
  /** The sequence number of the frame before it; 0 for none. */
  readonly sequence: number;
}

/** The first bytes of a segment are its header. Frames begin after it, on a page of their own. */
export const headerBlock = 4096;
const layout = 1;
const magic = Buffer.from('flagmtrJ');
/** Magic (8), layout (u32), 4 bytes unused, id (16), generation, size and first sequence number (u64 each), checksum (u32). */
const fields = { layout: 8, id: 16, generation: 32, size: 40, first: 48, checksum: 56 };
const headerSize = 60;

/** The names of files. A spare bears the generation of the frames that it holds, 0 for none. */
const pad = (generation: number) => String(generation).padStart(10, '0');
export const segmentName = (generation: number) => `${pad(generation)}.segment`;
export const spareName = (generation: number) => `spare-${pad(generation)}`;
const pattern = /^(?:(\d{10})\.segment|spare-(\d{10}))$/;

/** The generation in the name of a segment or a spare; `undefined` for other files. */
function generationIn(name: string): number | undefined {
  const [, segment, spare] = pattern.exec(name) ?? [];
  return segment === undefined && spare === undefined ? undefined : Number(segment ?? spare);
}

/** The names of the spares, sorted. */
export function spareNames(names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith('spare-') && generationIn(name) !== undefined).sort();
}

/** The names of the segments, in the order in which they were begun. */
export function segmentNames(names: readonly string[]): string[] {
  return names.filter((name) => name.endsWith('.segment') && generationIn(name) !== undefined).sort();
}

/** A generation that no frame in these files has. */
export function nextGeneration(names: readonly string[]): number {
  return 1 + Math.max(0, ...names.map((name) => generationIn(name) ?? 0));
}

/** Describes a segment that is about to begin. */
export function describeSegment(id: Uint8Array, generation: number, first: number, size: number): Segment {
  const key = Buffer.alloc(id.length + 8);
  key.set(id);
  key.writeBigUInt64LE(BigInt(generation), id.length);
  return { name: segmentName(generation), generation, first, size, seed: crc32(key) };
}

/** The header of a segment. */
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
 * Reads the headers of all segments, in the order in which they were begun.
 * @throws {JournalDamaged} if one is not what was written, or belongs to another journal
 */
export function readSegments(journal: Journal): Segment[] {
  return segmentNames(journal.files.list()).map((name) => readHeader(journal, name));
}

function readHeader(journal: Journal, name: string): Segment {
  const header = headerOf(journal.files, name);
  const number = (offset: number) => Number(header.readBigUInt64LE(offset));
  const isWhole = crc32(header.subarray(0, fields.checksum)) === header.readUInt32LE(fields.checksum);
  if (!isWhole || !magic.equals(header.subarray(0, magic.length)))
    throw damage(journal, name, 0, 'its header is damaged');
  const version = header.readUInt32LE(fields.layout);
  if (version !== layout) throw later(journal, name, version);
  if (Buffer.compare(header.subarray(fields.id, fields.generation), journal.id) !== 0)
    throw foreign(journal, name);
  const generation = number(fields.generation);
  if (segmentName(generation) !== name)
    throw damage(journal, name, 0, `it is a copy of ${segmentName(generation)}`);
  const size = number(fields.size);
  const found = journal.files.size(name) ?? 0;
  if (found !== size) throw damage(journal, name, found, `it has ${found} bytes in place of ${size}`);
  return describeSegment(journal.id, generation, number(fields.first), size);
}

function headerOf(files: JournalFiles, name: string): Buffer {
  const header = Buffer.alloc(headerSize);
  const file = files.open(name, 'read');
  try {
    file.read(header, 0);
  } finally {
    file.close();
  }
  return header;
}

/** What to report for a segment that is not what was written. */
export function damage({ files }: Journal, name: string, offset: number, reason: string): JournalDamaged {
  const remedy =
    'Restore a backup. To start without the packets that were not yet folded into the store, move the journal away';
  return new JournalDamaged(join(files.directory, name), offset, reason, remedy);
}

function foreign({ files }: Journal, name: string): JournalDamaged {
  const reason = 'it belongs to another data directory';
  return new JournalDamaged(join(files.directory, name), 0, reason, 'Move it back there');
}

function later({ files }: Journal, name: string, version: number): JournalDamaged {
  const reason = `it has layout ${version}, and this version of flagmeter reads layout ${layout}`;
  return new JournalDamaged(join(files.directory, name), 0, reason, 'Start the version that wrote it');
}
