import { deflateSync, inflateSync } from 'node:zlib';
import { Packr } from 'msgpackr';
import { type CountedMessage, type Delta, DeltaUnreadable, type UnresolvedInstance } from './delta.ts';
import {
  checkExposures,
  checkLedger,
  checkMessages,
  checkSenders,
  checkSeries,
  checkSketches,
  checkUnresolved,
  checkUses,
} from './delta-checks.ts';
import {
  each,
  isAmount,
  isAnyRef,
  isBucket,
  isMinute,
  isPosition,
  isRef,
  isSequence,
  isValue,
  list,
  numbers,
  type RefuseRow,
  text,
} from './delta-values.ts';

/**
 * How a delta crosses from its node to the others. A body is a byte with the number of the format, then what MessagePack makes
 * of the delta, deflated. Everything is an array in a fixed order: names of fields would be most of a small delta.
 */
export const deltaFormat = 1;

/** The most that a body may inflate to. A delta that a node seals is far below, but for a report of many thousand entries. */
const maxInflated = 64 * 1024 * 1024;

const packr = new Packr({ useRecords: false });

/** Encodes a delta. */
export function encodeDelta(delta: Delta): Buffer {
  const { stream, seq, since, version, through, counts, measurements, seen } = delta;
  const packed = packr.pack([
    ...[stream, seq, since, version, through],
    delta.series.map(({ environment, ordinal, name }) => [environment, ordinal, name]),
    ...[counts, measurements],
    delta.sketches.map(({ ref, day, chunk, value }) => [ref, day, chunk, value]),
    seen,
    delta.exposures.map(({ environment, digest, rows }) => [environment, digest, rows]),
    delta.messages.map(messageFields),
    delta.senders.map(({ environment, ordinal, sender, first, last }) => {
      const { name, version, transport, route } = sender;
      return [environment, ordinal, name, version, transport, route, first, last];
    }),
    delta.ledger.map(({ application, hour, subject, count, lastAt, example }) => {
      return [application, hour, subject, count, lastAt, JSON.stringify(example)];
    }),
    delta.uses.map(({ application, digest, hash, expiresAt }) => [application, digest, hash, expiresAt]),
    delta.unresolved.map(unresolvedFields),
  ]);
  return Buffer.concat([Buffer.of(deltaFormat), deflateSync(packed, { level: 1 })]);
}

/** Encodes what a message brings, as it is kept until it is sealed. */
export function encodeMessage(message: CountedMessage): Buffer {
  return packr.pack(messageFields(message));
}

/** Decodes what this node has encoded. Nothing is checked: whoever applies the delta does that. */
export function decodeMessage(packed: Uint8Array): CountedMessage {
  const fields = packr.unpack(packed) as MessageFields;
  const [identity, at, counts, measurements, users, people, unresolved] = fields;
  const exposures = people.map(([environment, digest, rows]) => ({ environment, digest, rows }));
  return { identity, at, counts, measurements, users, exposures, unresolved: unresolved.map(unresolvedFrom) };
}

/** Encodes what came with an unknown instance id, as it is kept until it is sealed. */
export function encodeUnresolved(unresolved: UnresolvedInstance): Buffer {
  return packr.pack(unresolvedFields(unresolved));
}

/** Decodes what this node has encoded, in the same way. */
export function decodeUnresolved(packed: Uint8Array): UnresolvedInstance {
  return unresolvedFrom(packr.unpack(packed) as UnresolvedFields);
}

/**
 * Decodes a body, whoever made it: each number, length and name is one that a node can have written.
 * @param refuse is told of rows that are left out
 * @throws {DeltaUnreadable}
 */
export function decodeDelta(body: Uint8Array, refuse?: RefuseRow): Delta {
  if (body[0] !== deltaFormat) throw new DeltaUnreadable(`its format is ${body[0] ?? 'missing'}`);
  return readable(() => {
    const packed = inflateSync(body.subarray(1), { maxOutputLength: maxInflated });
    return checkDelta(list(packr.unpack(packed), 'delta', 16), refuse);
  });
}

type ExposureFields = [environment: number, digest: Uint8Array, rows: readonly number[]];
type UnresolvedFields = [
  ...[application: number, environment: number, digest: Uint8Array, hash: Uint8Array],
  ...[seconds: number, rows: readonly number[]],
];
type MessageFields = [
  ...[identity: Uint8Array, at: number, counts: readonly number[], measurements: readonly number[]],
  ...[users: readonly number[], exposures: ExposureFields[], unresolved: UnresolvedFields[]],
];

function messageFields(message: CountedMessage): MessageFields {
  const { identity, at, counts, measurements, users, exposures, unresolved } = message;
  const people = exposures.map(({ environment, digest, rows }): ExposureFields => {
    return [environment, digest, rows];
  });
  return [identity, at, counts, measurements, users, people, unresolved.map(unresolvedFields)];
}

function unresolvedFields(unresolved: UnresolvedInstance): UnresolvedFields {
  const { application, environment, digest, hash, seconds, rows } = unresolved;
  return [application, environment, digest, hash, seconds, rows];
}

function unresolvedFrom(fields: UnresolvedFields): UnresolvedInstance {
  const [application, environment, digest, hash, seconds, rows] = fields;
  return { application, environment, digest, hash, seconds, rows };
}

function checkDelta(fields: unknown[], refuse: RefuseRow | undefined): Delta {
  const [stream, seq, since, version, through, series, counts, measurements, ...more] = fields;
  const [sketches, seen, exposures, messages, senders, ledger, uses, unresolved] = more;
  return {
    stream: text(stream, 'stream', 64),
    seq: each(seq, isSequence, 'seq'),
    since: each(since, isPosition, 'since'),
    version: each(version, isPosition, 'version'),
    through: each(through, isValue, 'through'),
    series: checkSeries(series, refuse),
    counts: numbers(counts, 'counts', [isRef, isBucket, isAmount, isAmount, isAmount], refuse),
    measurements: numbers(measurements, 'measurements', measurementColumns, refuse),
    sketches: checkSketches(sketches, refuse),
    seen: numbers(seen, 'seen', [isAnyRef, isMinute, isMinute], refuse),
    exposures: checkExposures(exposures, refuse),
    messages: checkMessages(messages, refuse),
    senders: checkSenders(senders, refuse),
    ledger: checkLedger(ledger, refuse),
    uses: checkUses(uses, refuse),
    unresolved: checkUnresolved(unresolved, refuse),
  };
}

const measurementColumns = [
  ...[isRef, isBucket, isValue, isSequence],
  ...[isValue, isValue, isValue, isValue],
];

/** Whatever goes wrong in reading is the body's fault. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DeltaUnreadable) throw error;
    throw new DeltaUnreadable((error as Error | undefined)?.message ?? 'it cannot be read');
  }
}
