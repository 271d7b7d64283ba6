import { Packr } from 'msgpackr';
import { assert } from '../../runtime/assert.ts';
import type { CumulativeMessage } from '../lmdb/cumulative.ts';
import type { HashedId, HashedMint, HashedUse } from '../lmdb/instances.ts';
import type { LedgerLine } from '../lmdb/ledger.ts';
import { permanentAt } from '../lmdb/messages.ts';
import type { SenderSight } from '../lmdb/senders.ts';
import type { NewSeries } from '../lmdb/series.ts';
import type { Total } from '../lmdb/totals.ts';
import {
  eachRecord,
  joinWholes,
  type RecordRange,
  type SealedRecords,
  sealedFrom,
  viewBytes,
} from './record-buffer.ts';

/** An identity whose data is to be deleted. */
export interface Forgotten {
  readonly application: number;
  readonly environments: readonly number[];
  /** Digest of the identity, as hex: see `digestIdentity`. */
  readonly digest: string;
}

/** A use of an instance id that is unknown on this machine. Another machine can have issued the id recently. */
export interface UnresolvedUse {
  readonly application: number;
  readonly environment: number;
  readonly instanceId: string;
  /** Unix seconds. */
  readonly seconds: number;
  /**
   * `ref, minute, checks, used, viewed` per row, in one array. `ref` is the number of a variant's series (see
   * `seriesRef`), or of the environment as a whole, whose counts are zero.
   */
  readonly rows: number[];
}

type HashedUnresolvedUse = HashedId & Omit<UnresolvedUse, 'instanceId'>;

/** Ranges of records to process message by message. All other records are processed in bulk. */
export interface Apart {
  readonly counts: readonly RecordRange[];
  readonly measurements: readonly RecordRange[];
  readonly users: readonly RecordRange[];
  readonly exposures: readonly RecordRange[];
}

/**
 * A sealed batch that is passed to a worker. The batch is cloned, except for the arrays of records. These arrays are
 * shared, and the sender does not change them until the commit ends. Kinds without records are omitted.
 */
export interface Envelope {
  /** Number of the batch: see `RecordArrays`. */
  readonly batch: number;
  readonly counts: SealedRecords | undefined;
  readonly measurements: SealedRecords | undefined;
  readonly users: SealedRecords | undefined;
  readonly exposures: SealedRecords | undefined;
  readonly messages: SealedRecords | undefined;
  readonly series: readonly NewSeries[];
  readonly totals: readonly Total[];
  readonly cumulative: readonly CumulativeMessage[];
  readonly mints: readonly HashedMint[];
  /** The uses of instance ids. A use extends the lifetime of its id. */
  readonly uses: readonly HashedUse[];
  readonly unresolved: readonly HashedUnresolvedUse[];
  readonly forgotten: readonly Forgotten[];
  readonly senders: readonly SenderSight[];
  readonly ledger: readonly LedgerLine[];
  /** Set by the worker if each message is processed separately. */
  readonly apart?: Apart;
}

/*
 * The encoding of a sealed batch as the body of a journal frame. It has the version (u32), for each of `kinds` the
 * number of bytes of its records (u32), the records (see `RecordBuffer`), and everything else as MessagePack. Numbers
 * are little-endian. Version 1, which earlier releases read, lacks cumulative messages and running totals. A batch with
 * none of these, and no parts of imports, is written as version 1. Unreleased builds wrote version 2, with another
 * encoding of cumulative messages.
 */
const version = 3;
const kinds = ['counts', 'measurements', 'users', 'exposures', 'messages'] as const;
const interim = 2;

// Disables records of MessagePack, because a frame must not depend on structures that earlier frames define.
const packr = new Packr({ useRecords: false });

export function encodeEnvelope(envelope: Envelope): Uint8Array[] {
  const isLater = envelope.cumulative.length + envelope.totals.length > 0 || hasImported(envelope);
  const written = isLater ? version : 1;
  const sections = kinds.map((kind) => [viewBytes(envelope[kind], envelope.batch)]);
  const { batch, series, mints, uses, forgotten, unresolved, senders, ledger, totals, cumulative } = envelope;
  const rest = [batch, series, mints, uses, forgotten, unresolved, senders, ledger, totals, cumulative];
  return encodeBody(written, sections, rest);
}

function encodeBody(written: number, sections: readonly Uint8Array[][], rest: readonly unknown[]): Uint8Array[] {
  const head = Buffer.alloc(4 * (1 + sections.length));
  head.writeUInt32LE(written, 0);
  const chunks: Uint8Array[] = [head];
  for (const [index, records] of sections.entries()) {
    head.writeUInt32LE(sumLengths(records), 4 * (index + 1));
    chunks.push(...records);
  }
  chunks.push(packr.pack(rest));
  return chunks;
}

const sumLengths = (chunks: readonly Uint8Array[]) => chunks.reduce((sum, chunk) => sum + chunk.length, 0);

/**
 * Joins the bodies of several batches in the given order. Only the first batch can have messages, because the extents
 * of messages refer to records of the same batch.
 */
export function joinBodies(bodies: readonly Uint8Array[]): Uint8Array[] {
  const opened = bodies.map(openBody);
  // The bytes are copied, because text in shared memory cannot be decoded.
  const rests = opened.map(({ rest }): Rest => packr.unpack(Buffer.from(rest)));
  const [batch, ...lists] = rests[0]!;
  const written = Math.max(...opened.map((body) => body.written));
  const sections = kinds.map((_, index) =>
    joinWholes(
      opened.map(({ sections }) => sections[index]).filter((each) => each !== undefined),
      batch,
    ),
  );
  const joined = lists.map((_, index) => rests.flatMap((rest) => rest[index + 1] as unknown[]));
  return encodeBody(written, sections, [batch, ...joined]);
}

/** The number of the batch, and lists of everything that is not a record. */
type Rest = readonly [batch: number, ...lists: unknown[][]];

export function hasMessages(body: Uint8Array): boolean {
  return openBody(body).sections[kinds.indexOf('messages')]!.length > 0;
}

function openBody(body: Uint8Array) {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const written = view.getUint32(0, true);
  if (written > version) throw new Error(`a later version of flagmeter wrote the frame, in version ${written}`);
  const count = kinds.length + Number(written === interim);
  let at = 4 * (1 + count);
  const sections = Array.from({ length: count }, (_, index) => {
    const from = at;
    at += view.getUint32(4 * (index + 1), true);
    return body.subarray(from, at);
  });
  assert(at < body.length, 'a frame is whole');
  if (sections.length > kinds.length && sections.at(-1)!.length > 0)
    throw new Error(
      'an interim version of flagmeter wrote the frame: start that version on this directory, and stop it first',
    );
  return { written, sections, rest: body.subarray(at) };
}

/** True if the batch has parts of imports, whose records earlier releases misread. */
function hasImported({ messages, batch }: Envelope): boolean {
  let found = false;
  eachRecord(messages, batch, (at) => {
    if (at === permanentAt) found = true;
  });
  return found;
}

/** Decodes a body, which must not change while the batch is used. @throws {Error} if a later version wrote it */
export function decodeEnvelope(body: Uint8Array): Envelope {
  const { sections, rest } = openBody(body);
  const [counts, measurements, users, exposures, messages] = sections.map((records) =>
    records.length > 0 ? sealedFrom(records) : undefined,
  );
  const [batch, series, mints, uses, forgotten, unresolved, senders, ledger, totals = [], cumulative = []] =
    packr.unpack(rest);
  return {
    batch,
    counts,
    measurements,
    users,
    exposures,
    messages,
    series,
    mints,
    uses,
    forgotten,
    unresolved,
    senders,
    ledger,
    totals,
    cumulative,
  };
}
