import { deflateSync, inflateSync } from 'node:zlib';
import { Packr } from 'msgpackr';
import { chunksPerSketch } from '../store/sketches.ts';
import {
  type CountedMessage,
  type Delta,
  DeltaUnreadable,
  type PersonExposures,
  type UnresolvedInstance,
} from './delta.ts';
import {
  checkChunk,
  chunkBytes,
  examples,
  routes,
  seriesNames,
  shownText,
  shownTextOrNull,
  subjects,
  transports,
} from './delta-checks.ts';
import {
  bytes,
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
  type RefuseRow,
  row,
  rows,
  text,
  whole,
} from './delta-values.ts';

/**
 * How a delta crosses from its node to the others. A body is a byte with the number of the format, then what MessagePack makes
 * of the delta, deflated. Everything is an array in a fixed order: names of fields would be most of a small delta.
 */
export const deltaFormat = 1;

/** The most that a body may inflate to. A delta that a node seals is far below, but for a report of many thousand entries. */
const maxInflated = 64 * 1024 * 1024;

const packr = new Packr({ useRecords: false });

const word = number(isWord);
const hashes = { digest: bytes(16), hash: bytes(32) };
const counts = numbers([isRef, isBucket, isAmount, isAmount, isAmount]);

const exposures = rows<PersonExposures>({
  environment: word,
  digest: bytes(16),
  rows: numbers([isOrdinal, isWord, isWord, isAmount, isAmount, isAmount], 'exposures'),
});

const unresolvedColumns = {
  ...{ application: word, environment: word, ...hashes, seconds: word },
  rows: numbers([isAnyRef, isMinute, isAmount, isAmount, isAmount], 'unresolved'),
};
const unresolvedInstance = row<UnresolvedInstance>(unresolvedColumns);
const unresolved = rows<UnresolvedInstance>(unresolvedColumns);

const messageColumns = {
  identity: bytes(16),
  at: number(whole(2 ** 48)),
  counts,
  measurements: numbers([isRef, isBucket, isValue, isValue]),
  users: numbers([isAnyRef, isMinute, isWord, isWord]),
  exposures,
  unresolved,
};
const countedMessage = row<CountedMessage>(messageColumns);

const format = row<Delta>({
  stream: text(64),
  seq: number(isSequence),
  since: number(isPosition),
  version: number(isPosition),
  through: number(isValue),
  series: rows({ environment: word, ordinal: number(isOrdinal), name: seriesNames }),
  counts,
  measurements: numbers([isRef, isBucket, isValue, isSequence, isValue, isValue, isValue, isValue]),
  sketches: rows(
    {
      ref: number(isAnyRef),
      day: number(whole(2 ** 32 / 1440)),
      chunk: number(whole(chunksPerSketch)),
      value: chunkBytes,
    },
    checkChunk,
  ),
  seen: numbers([isAnyRef, isMinute, isMinute]),
  exposures,
  messages: rows<CountedMessage>(messageColumns),
  senders: rows({
    ...{ environment: word, ordinal: number(isAnyOrdinal) },
    ...{ name: shownText, version: shownTextOrNull, transport: transports, route: routes },
    ...{ first: word, last: word },
  }),
  ledger: rows({
    ...{ application: word, hour: word, subject: subjects },
    ...{ count: number(isSequence), lastAt: number(isValue), example: examples },
  }),
  uses: rows({ application: word, ...hashes, expiresAt: number(isValue) }),
  unresolved,
});

/** Encodes a delta. */
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

/**
 * Decodes a body, whoever made it: each number, length and name is one that a node can have written.
 * @param refuse is told of rows that are left out
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
