import { deflateSync, inflateSync } from 'node:zlib';
import { Packr } from 'msgpackr';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { type CumulativeMessage, opensFeature, repeats, rowKind } from '../storage/lmdb/cumulative.ts';
import { permanentAt } from '../storage/lmdb/messages.ts';
import { chunksPerSketch } from '../storage/lmdb/sketches.ts';
import {
  bytes,
  type Column,
  checkChunk,
  chunkBytes,
  DeltaUnreadable,
  examples,
  isAmount,
  isAnyOrdinal,
  isAnyRef,
  isBucket,
  isLaterRoute,
  isLaterSubject,
  isMinute,
  isOrdinal,
  isPosition,
  isRef,
  isSequence,
  isValue,
  isWord,
  number,
  numbers,
  type Of,
  type Refuse,
  routes,
  row,
  rows,
  seriesNames,
  shownText,
  shownTextOrNull,
  subjects,
  subjectsOrNone,
  text,
  transports,
  whole,
} from './delta-columns.ts';

/**
 * A delta holds what a stream has counted since its previous delta. A stream is one process of a node. Series are
 * identified by the refs of the node's spool (see `seriesRef`). Columns are encoded in order of declaration, without
 * their names. Rows of numbers are one flat list. Format 1, which earlier releases read, lacks the last two columns and
 * the routes after `metrics`. A delta that needs none of them is written in format 1. Unreleased builds wrote format 2.
 */
const deltaFormat = 3;
const interim = 2;

/** Maximum inflated size of a body. Only deltas with a report of many thousand entries come near this limit. */
const maxInflated = 64 * 1024 * 1024;

const packr = new Packr({ useRecords: false });

const word = number(isWord);
/** The digest of an identity (see `digestIdentity`), and the SHA-256 of an instance id. */
const hashes = { digest: bytes(16), hash: bytes(32) };
/** `ref, bucket, checks, used, viewed` */
const counts = numbers([isRef, isBucket, isAmount, isAmount, isAmount]);

/** The variants that a person received in one environment. */
const exposures = rows({
  environment: word,
  digest: bytes(16),
  /** `ordinal, first seconds, last seconds, checks, used, viewed` */
  rows: numbers([isOrdinal, isWord, isWord, isAmount, isAmount, isAmount], 'exposures'),
});

/** Uses of an instance id that this node does not know. Another node might have created the id a moment ago. */
const unresolvedColumns = {
  application: word,
  environment: word,
  ...hashes,
  /** Time of use, Unix seconds. */
  seconds: word,
  /** `ref, minute, checks, used, viewed`; a row for a whole environment has no counts */
  rows: numbers([isAnyRef, isMinute, isAmount, isAmount, isAmount], 'unresolved'),
};
const unresolved = rows(unresolvedColumns);

/** A message that counts once, even if several nodes receive it. Replicas decide which copy counts. */
const messageColumns = {
  identity: bytes(16),
  /** Time of the message, Unix ms. */
  at: number(whole(2 ** 48)),
  counts,
  /** `ref, bucket, value, at`; an imported section has three rows for each summary of values: see `addSummary` */
  measurements: numbers([isRef, isBucket, isValue, isValue]),
  /** `ref, minute, high, low`, with the hash of the user in two words */
  users: numbers([isAnyRef, isMinute, isWord, isWord]),
  exposures,
  unresolved,
};

/** Cumulative messages (see `CumulativeMessage`). Only their increase over earlier messages of any node counts. */
const cumulativeColumns = {
  identity: bytes(16),
  /** Time of the message, Unix ms. */
  at: number(whole(2 ** 48)),
  sender: bytes(0, 16),
  repeats: number(whole(Object.keys(repeats).length)),
  stop: number(isValue),
  length: number(isValue),
  interval: number(isValue),
  /** Subject (dimensions) of the note in the ledger; empty without a note. */
  subject: subjectsOrNone,
  bucket: number(isBucket),
  measuredAt: number(isValue),
  rows: numbers([isRef, whole(2 * opensFeature), isValue], 'cumulative'),
};

/** Cumulative messages in format 2, of unreleased builds. */
const interimColumns = {
  identity: bytes(16),
  /** Time of the message, Unix ms. */
  at: number(whole(2 ** 48)),
  /** `ref, bucket, checks` */
  counts: numbers([isRef, isBucket, isAmount], 'cumulative'),
  /** `ref, bucket, value, at` */
  measurements: numbers([isRef, isBucket, isValue, isValue], 'cumulative'),
};

const headColumns = {
  stream: text(64),
  /** Number of the delta in its stream: 1, 2, 3 and so on. */
  seq: number(isSequence),
  /** Position of the log that the node had applied when it began this delta. */
  since: number(isPosition),
  /** Version of the node's accounts when it completed (sealed) this delta. */
  version: number(isPosition),
  /** Packets that the stream acknowledged before this time (Unix ms) are in this delta or earlier deltas. */
  through: number(isValue),
};

const contentColumns = {
  /** Names of the series to which the stream refers for the first time. Repeated names are allowed. */
  series: rows({ environment: word, ordinal: number(isOrdinal), name: seriesNames }),
  counts,
  /** `ref, bucket, sum, count, last, lastAt, min, max` */
  measurements: numbers([isRef, isBucket, isValue, isSequence, isValue, isValue, isValue, isValue]),
  /** A chunk of a sketch, which estimates the number of users: see `writeChunk`. */
  sketches: rows(
    {
      ref: number(isAnyRef),
      day: number(whole(2 ** 32 / minutesPerDay)),
      chunk: number(whole(chunksPerSketch)),
      value: chunkBytes,
    },
    checkChunk,
  ),
  /** `ref, first minute, last minute` */
  seen: numbers([isAnyRef, isMinute, isMinute]),
  exposures,
  messages: rows(messageColumns),
  /** A sender, and the time slots in which the sender checked a feature or sent anything: see `SenderSight`. */
  senders: rows({
    environment: word,
    ordinal: number(isAnyOrdinal),
    name: shownText,
    version: shownTextOrNull,
    transport: transports,
    route: routes,
    first: word,
    last: word,
  }),
  ledger: rows({
    application: word,
    hour: word,
    subject: subjects,
    count: number(isSequence),
    lastAt: number(isValue),
    example: examples,
  }),
  /** A use of an instance id. The use extends the life of the id until `expiresAt` (Unix ms). */
  uses: rows({ application: word, ...hashes, expiresAt: number(isValue) }),
  unresolved,
};

/** Running totals: see `Total`. */
const totalColumns = {
  application: word,
  digest: bytes(16),
  ref: number(isRef),
  bucket: number(isBucket),
  value: number(isAmount),
  at: number(isValue),
  received: number(isValue),
  fresh: number(whole(2)),
};
const laterColumns = { cumulative: rows(cumulativeColumns), totals: rows(totalColumns) };
const interimLater = { ...laterColumns, cumulative: rows(interimColumns) };

const unresolvedInstance = row(unresolvedColumns);
const countedMessage = row(messageColumns);
const deltaHead = row(headColumns);
const deltaContent = row({ ...contentColumns, ...laterColumns });
const cumulativeMessage = row(cumulativeColumns);
const interimMessage = row(interimColumns);
const earlierFormat = row({ ...headColumns, ...contentColumns });
const interimFormat = row({ ...headColumns, ...contentColumns, ...interimLater });
const format = row({ ...headColumns, ...contentColumns, ...laterColumns });

export type PersonExposures = Of<typeof exposures>[number];
export type UnresolvedInstance = Of<typeof unresolvedInstance>;
export type CountedMessage = Of<typeof countedMessage>;
export type DeltaHead = Of<typeof deltaHead>;
export type Delta = Of<typeof format>;
type Content = Of<typeof deltaContent>;
/** The content of a delta, as lists to be filled. */
type DeltaContent = { -readonly [K in keyof Content]: Content[K][number][] };

/** Returns the content of an empty delta, to be filled. */
export function emptyContent(): DeltaContent {
  const names = Object.keys({ ...contentColumns, ...laterColumns });
  return Object.fromEntries(names.map((name) => [name, []])) as never;
}

/** Encodes a delta: the number of the format (u8), then its columns as deflated MessagePack. */
export function encodeDelta(delta: Delta): Buffer {
  const isLater = delta.cumulative.length + delta.totals.length > 0 || hasImported(delta);
  const needsLater = isLater || hasLaterRoute(delta);
  const packed = packr.pack((needsLater ? format : earlierFormat).pack(delta));
  return Buffer.concat([Buffer.of(needsLater ? deltaFormat : 1), deflateSync(packed, { level: 1 })]);
}

/** True if the delta has sections of imports, which earlier releases misread. */
function hasImported({ messages }: Delta): boolean {
  return messages.some(({ at }) => at === permanentAt);
}

/** True if the delta has a route that earlier releases do not know. */
function hasLaterRoute({ senders, ledger }: Delta): boolean {
  return senders.some(({ route }) => isLaterRoute(route)) || ledger.some(({ subject }) => isLaterSubject(subject));
}

/** Encodes and decodes a record of counts that are not in a delta yet. Replicas check the delta, so this does not. */
const stored = <T>({ pack, unpack }: Column<T>) => ({
  encode: (value: T): Buffer => packr.pack(pack(value)),
  decode: (packed: Uint8Array): T => unpack(packr.unpack(packed)),
});
export const messageRecord = stored(countedMessage);
export const unresolvedRecord = stored(unresolvedInstance);
export const cumulativeRecord = {
  ...stored(cumulativeMessage),
  decode(packed: Uint8Array): CumulativeMessage {
    const cells: unknown[] = packr.unpack(packed);
    const isInterim = cells.length === Object.keys(interimColumns).length;
    return isInterim ? fromInterim(interimMessage.unpack(cells)) : cumulativeMessage.unpack(cells);
  },
};
export const totalRecord = stored(row(totalColumns));

/** Converts a cumulative message of an unreleased build. All counts of such a message apply. */
function fromInterim({ identity, at, counts, measurements }: Of<typeof interimMessage>): CumulativeMessage {
  const rows: number[] = [];
  for (let row = 0; row < counts.length; row += 3) rows.push(counts[row]!, rowKind.variant, counts[row + 2]!);
  for (let row = 0; row < measurements.length; row += 4)
    rows.push(measurements[row]!, rowKind.counter, measurements[row + 2]!);
  const bucket = counts[1] ?? measurements[1] ?? 0;
  const measuredAt = measurements[3] ?? at;
  const unknown = { sender: new Uint8Array(), stop: 0, length: 0, interval: 0, subject: '' };
  return { ...unknown, identity, at, repeats: repeats.never, bucket, measuredAt, rows };
}

/** Returns the format of a body if the format is unknown to this version; otherwise `undefined`. */
export function laterFormat(body: Uint8Array): number | undefined {
  const found = body[0] ?? 0;
  return found > deltaFormat ? found : undefined;
}

/**
 * Decodes and checks a body from any node.
 * @param refuse called for each omitted row
 * @throws {DeltaUnreadable}
 */
export function decodeDelta(body: Uint8Array, refuse?: Refuse): Delta {
  const found = body[0] ?? 0;
  if (found < 1 || found > deltaFormat) throw new DeltaUnreadable(`its format is ${body[0] ?? 'missing'}`);
  try {
    const packed = inflateSync(body.subarray(1), { maxOutputLength: maxInflated });
    const content: unknown = packr.unpack(packed);
    if (found === deltaFormat) return format.read(content, 'delta', refuse);
    if (found === interim) {
      const { cumulative, ...rest } = interimFormat.read(content, 'delta', refuse);
      return { ...rest, cumulative: cumulative.map(fromInterim) };
    }
    return { ...earlierFormat.read(content, 'delta', refuse), cumulative: [], totals: [] };
  } catch (error) {
    // Other errors also mean an invalid body, so they are converted.
    if (error instanceof DeltaUnreadable) throw error;
    throw new DeltaUnreadable((error as Error | undefined)?.message ?? 'it cannot be read');
  }
}
