import { deflateSync, inflateSync } from 'node:zlib';
import { Packr } from 'msgpackr';
import { minutesPerDay } from '../storage/lmdb/blocks.ts';
import { chunksPerSketch } from '../storage/lmdb/sketches.ts';
import {
  bytes,
  checkChunk,
  chunkBytes,
  DeltaUnreadable,
  examples,
  isAmount,
  isAnyOrdinal,
  isAnyRef,
  isBucket,
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
  type RefuseRow,
  routes,
  row,
  rows,
  seriesNames,
  shownText,
  shownTextOrNull,
  subjects,
  text,
  transports,
  whole,
} from './delta-columns.ts';

/**
 * A delta: what a stream has counted since its delta before, and how that crosses from its node to the others. A stream is one
 * process of a node, from its start to its end. Series are named by the refs of the node's spool (see `seriesRef`). Columns
 * cross in the order in which they are declared here, without their names. Rows of numbers are flat.
 */
const deltaFormat = 1;

/** The most that a body may inflate to. A delta that a node seals is far below, but for a report of many thousand entries. */
const maxInflated = 64 * 1024 * 1024;

const packr = new Packr({ useRecords: false });

const word = number(isWord);
/** The digest of an identity (see `digestIdentity`), and the SHA-256 of an instance id. */
const hashes = { digest: bytes(16), hash: bytes(32) };
/** `ref, bucket, checks, used, viewed` */
const counts = numbers([isRef, isBucket, isAmount, isAmount, isAmount]);

/** The variants that a person was given in one environment. */
const exposures = rows({
  environment: word,
  digest: bytes(16),
  /** `ordinal, first seconds, last seconds, checks, used, viewed` */
  rows: numbers([isOrdinal, isWord, isWord, isAmount, isAmount, isAmount], 'exposures'),
});

/** What came with an instance id that the node did not know: another node may have minted it a moment ago. */
const unresolvedColumns = {
  ...{ application: word, environment: word, ...hashes },
  /** Unix seconds. */
  seconds: word,
  /** `ref, minute, checks, used, viewed`; the environment as a whole is among the refs, with no counts. */
  rows: numbers([isAnyRef, isMinute, isAmount, isAmount, isAmount], 'unresolved'),
};
const unresolved = rows(unresolvedColumns);

/** A message that counts once, however many nodes it was sent to: what it brings is kept apart until that is decided. */
const messageColumns = {
  identity: bytes(16),
  /** Unix ms. */
  at: number(whole(2 ** 48)),
  counts,
  /** `ref, bucket, value, at` */
  measurements: numbers([isRef, isBucket, isValue, isValue]),
  /** `ref, minute, high, low` */
  users: numbers([isAnyRef, isMinute, isWord, isWord]),
  exposures,
  unresolved,
};

const headColumns = {
  stream: text(64),
  /** The deltas of a stream are numbered 1, 2, 3 and so on. */
  seq: number(isSequence),
  /** The position of the log that the node had applied when it began to fill this delta. */
  since: number(isPosition),
  /** The version of the accounts that the node had when it sealed this delta. */
  version: number(isPosition),
  /** What the stream has answered before this time (Unix ms) is in this delta or in an earlier one. */
  through: number(isValue),
};

const contentColumns = {
  /** The names of those that this stream refers to for the first time; it may repeat a name. */
  series: rows({ environment: word, ordinal: number(isOrdinal), name: seriesNames }),
  counts,
  /** `ref, bucket, sum, count, last, lastAt, min, max` */
  measurements: numbers([isRef, isBucket, isValue, isSequence, isValue, isValue, isValue, isValue]),
  /** A chunk of a sketch with the users of this delta, as `writeChunk` encodes it. */
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
  /** A sender, and the slots in which it asked for a feature or sent anything at all: see `SenderSight`. */
  senders: rows({
    ...{ environment: word, ordinal: number(isAnyOrdinal) },
    ...{ name: shownText, version: shownTextOrNull, transport: transports, route: routes },
    ...{ first: word, last: word },
  }),
  ledger: rows({
    ...{ application: word, hour: word, subject: subjects },
    ...{ count: number(isSequence), lastAt: number(isValue), example: examples },
  }),
  /** An instance id that was used, which extends its life until `expiresAt` (Unix ms). */
  uses: rows({ application: word, ...hashes, expiresAt: number(isValue) }),
  unresolved,
};

const unresolvedInstance = row(unresolvedColumns);
const countedMessage = row(messageColumns);
const deltaHead = row(headColumns);
const deltaContent = row(contentColumns);
const format = row({ ...headColumns, ...contentColumns });

export type PersonExposures = Of<typeof exposures>[number];
export type UnresolvedInstance = Of<typeof unresolvedInstance>;
export type CountedMessage = Of<typeof countedMessage>;
/** What a delta says of itself. */
export type DeltaHead = Of<typeof deltaHead>;
export type Delta = Of<typeof format>;
type Content = Of<typeof deltaContent>;
/** What was counted, in lists that are to be filled. */
export type DeltaContent = { -readonly [K in keyof Content]: Content[K][number][] };

/** Nothing was counted. */
export function emptyContent(): DeltaContent {
  return Object.fromEntries(Object.keys(contentColumns).map((name) => [name, []])) as never;
}

/** Encodes a delta: a byte with the number of the format, then what MessagePack makes of its columns, deflated. */
export function encodeDelta(delta: Delta): Buffer {
  return Buffer.concat([Buffer.of(deltaFormat), deflateSync(packr.pack(format.pack(delta)), { level: 1 })]);
}

/** Encodes what a message brings, as it is kept until it is sealed. */
export function encodeMessage(message: CountedMessage): Buffer {
  return packr.pack(countedMessage.pack(message));
}

/** Decodes what this node has encoded. Nothing is checked: whoever applies the delta does that. */
export function decodeMessage(packed: Uint8Array): CountedMessage {
  return countedMessage.unpack(packr.unpack(packed));
}

/** Encodes what came with an unknown instance id, as it is kept until it is sealed. */
export function encodeUnresolved(instance: UnresolvedInstance): Buffer {
  return packr.pack(unresolvedInstance.pack(instance));
}

/** Decodes what this node has encoded, in the same way. */
export function decodeUnresolved(packed: Uint8Array): UnresolvedInstance {
  return unresolvedInstance.unpack(packr.unpack(packed));
}

/** The format of a body, if it is later than those that this program knows. */
export function laterFormat(body: Uint8Array): number | undefined {
  const found = body[0] ?? 0;
  return found > deltaFormat ? found : undefined;
}

/**
 * Decodes a body, whoever made it: each number, length and name is one that a node can have written.
 * @param refuse called with each omitted row
 * @throws {DeltaUnreadable}
 */
export function decodeDelta(body: Uint8Array, refuse?: RefuseRow): Delta {
  if (body[0] !== deltaFormat) throw new DeltaUnreadable(`its format is ${body[0] ?? 'missing'}`);
  try {
    const packed = inflateSync(body.subarray(1), { maxOutputLength: maxInflated });
    return format.read(packr.unpack(packed), 'delta', refuse);
  } catch (error) {
    // Whatever goes wrong in reading is the body's fault.
    if (error instanceof DeltaUnreadable) throw error;
    throw new DeltaUnreadable((error as Error | undefined)?.message ?? 'it cannot be read');
  }
}
