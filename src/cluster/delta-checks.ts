import { isName } from '../accounts/names.ts';
import { greatestCouponRank, greatestRank } from '../aggregate/hyperloglog.ts';
import type { LedgerExample, LedgerLine } from '../store/ledger.ts';
import type { Sender } from '../store/senders.ts';
import { featureItself, type NewSeries, type SeriesName } from '../store/series.ts';
import {
  chunksPerSketch,
  chunkValueBytes,
  formCoupons,
  formRegisters,
  maxCoupons,
  readChunk,
} from '../store/sketches.ts';
import type {
  CountedMessage,
  InstanceUsed,
  PersonExposures,
  SeenBy,
  SketchPart,
  UnresolvedInstance,
} from './delta.ts';
import {
  bytes,
  each,
  fail,
  isAmount,
  isAnyOrdinal,
  isAnyRef,
  isBucket,
  isMinute,
  isOrdinal,
  isRef,
  isSequence,
  isValue,
  isWord,
  list,
  numbers,
  parseJson,
  type RefuseRow,
  rowsOf,
  text,
  whole,
} from './delta-values.ts';

/** Names of series. @throws {DeltaUnreadable} */
export function checkSeries(value: unknown, refuse?: RefuseRow): NewSeries[] {
  return rowsOf(value, 'series', refuse, (row) => {
    const [environment, ordinal, name] = list(row, 'series', 3);
    return {
      environment: each(environment, isWord, 'series'),
      ordinal: each(ordinal, isOrdinal, 'series'),
      name: checkName(name),
    };
  });
}

/** A feature's variant, of which the feature itself is one; a metric; or a metric of a variant. */
function checkName(value: unknown): SeriesName {
  const parts = list(value, 'series');
  if (parts.length < 1 || parts.length > 3) fail('series');
  for (const [at, part] of parts.entries()) {
    const isItself = part === featureItself && at === 1 && parts.length === 2;
    if (typeof part !== 'string' || !(isItself || isName(part))) fail('series');
  }
  return parts as unknown as SeriesName;
}

/** Chunks of sketches, as `writeChunk` encodes them. @throws {DeltaUnreadable} */
export function checkSketches(value: unknown, refuse?: RefuseRow): SketchPart[] {
  return rowsOf(value, 'sketches', refuse, (row) => {
    const [ref, day, chunk, content] = list(row, 'sketches', 4);
    const number = each(chunk, whole(chunksPerSketch), 'sketches');
    return {
      ref: each(ref, isAnyRef, 'sketches'),
      day: each(day, whole(2 ** 32 / 1440), 'sketches'),
      chunk: number,
      value: checkChunk(content, number),
    };
  });
}

function checkChunk(value: unknown, chunk: number): Uint8Array {
  if (!(value instanceof Uint8Array)) return fail('sketches');
  const { length } = value;
  const isWhole =
    value[0] === formRegisters
      ? length === chunkValueBytes
      : value[0] === formCoupons && length % 4 === 1 && length > 1 && length <= 1 + 4 * maxCoupons;
  if (!isWhole) fail('sketches');
  const content = readChunk(Buffer.from(value.buffer, value.byteOffset, length));
  if (content.registers?.some((rank) => rank > greatestRank)) fail('sketches');
  let before = -1;
  for (const coupon of content.coupons ?? []) {
    const [prefix, rank] = [coupon >>> 6, coupon & 63];
    if (prefix <= before || coupon >>> 27 !== chunk || rank === 0 || rank > greatestCouponRank)
      fail('sketches');
    before = prefix;
  }
  return value;
}

const exposureColumns = [isOrdinal, isWord, isWord, isAmount, isAmount, isAmount];

/** What people were given. @throws {DeltaUnreadable} */
export function checkExposures(value: unknown, refuse?: RefuseRow): PersonExposures[] {
  return rowsOf(value, 'exposures', refuse, (row) => {
    const [environment, digest, rows] = list(row, 'exposures', 3);
    return {
      environment: each(environment, isWord, 'exposures'),
      digest: bytes(digest, 'exposures', 16),
      rows: numbers(rows, 'exposures', exposureColumns, refuse),
    };
  });
}

/** Messages that are counted apart. @throws {DeltaUnreadable} */
export function checkMessages(value: unknown, refuse?: RefuseRow): CountedMessage[] {
  return rowsOf(value, 'messages', refuse, (row) => {
    const [identity, at, counts, measurements, users, exposures, unresolved] = list(row, 'messages', 7);
    return {
      identity: bytes(identity, 'messages', 16),
      at: each(at, whole(2 ** 48), 'messages'),
      counts: numbers(counts, 'messages', [isRef, isBucket, isAmount, isAmount, isAmount], refuse),
      measurements: numbers(measurements, 'messages', [isRef, isBucket, isValue, isValue], refuse),
      users: numbers(users, 'messages', [isAnyRef, isMinute, isWord, isWord], refuse),
      exposures: checkExposures(exposures, refuse),
      unresolved: checkUnresolved(unresolved, refuse),
    };
  });
}

const transports: readonly unknown[] = ['http', 'grpc', 'grpc-web'];
const routes: readonly unknown[] = ['telemetry', 'usage', 'metrics'];
const outcomes: readonly unknown[] = ['accepted', 'refused', 'noted'];
/** Longer than any text of a sender that is kept. */
const longestText = 4096;

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestText;
}

function isTextOrNull(value: unknown): boolean {
  return value === null || isText(value);
}

/** Senders that were seen. @throws {DeltaUnreadable} */
export function checkSenders(value: unknown, refuse?: RefuseRow): SeenBy[] {
  return rowsOf(value, 'senders', refuse, (row) => {
    const [environment, ordinal, name, version, transport, route, first, last] = list(row, 'senders', 8);
    const isSender = isText(name) && isTextOrNull(version);
    if (!isSender || !transports.includes(transport) || !routes.includes(route)) fail('senders');
    return {
      environment: each(environment, isWord, 'senders'),
      ordinal: each(ordinal, isAnyOrdinal, 'senders'),
      sender: { name, version, transport, route } as Sender,
      first: each(first, isWord, 'senders'),
      last: each(last, isWord, 'senders'),
    };
  });
}

/** Lines of the ledger. @throws {DeltaUnreadable} */
export function checkLedger(value: unknown, refuse?: RefuseRow): LedgerLine[] {
  return rowsOf(value, 'ledger', refuse, (row) => {
    const [application, hour, subject, count, lastAt, example] = list(row, 'ledger', 6);
    return {
      application: each(application, isWord, 'ledger'),
      hour: each(hour, isWord, 'ledger'),
      subject: checkSubject(subject),
      count: each(count, isSequence, 'ledger'),
      lastAt: each(lastAt, isValue, 'ledger'),
      example: checkExample(example),
    };
  });
}

/** The text of a subject becomes part of a stored row, so it is exactly what `subjectText` writes. */
function checkSubject(value: unknown): string {
  const subject = text(value, 'ledger', 4 * longestText);
  const fields = list(parseJson(subject, 'ledger'), 'ledger', 8);
  const [environment, transport, route, outcome, status, code, userAgent, instance] = fields;
  const isSubject =
    (environment === null || isWord(environment as number)) &&
    transports.includes(transport) &&
    [...routes, 'identities'].includes(route) &&
    outcomes.includes(outcome) &&
    whole(1000)(status as number) &&
    [code, userAgent, instance].every(isTextOrNull);
  return isSubject && JSON.stringify(fields) === subject ? subject : fail('ledger');
}

const exampleFields: readonly string[] = [
  'environment',
  'origin',
  'keyId',
  'keyPrefix',
  'keyType',
  'detail',
] satisfies (keyof LedgerExample)[];

function checkExample(value: unknown): LedgerExample | null {
  const example = parseJson(text(value, 'ledger', 16 * longestText), 'ledger');
  if (example === null) return null;
  if (typeof example !== 'object' || Array.isArray(example)) return fail('ledger');
  const isExample = Object.entries(example).every(([key, held]) => {
    return exampleFields.includes(key) && isText(held);
  });
  return isExample ? example : fail('ledger');
}

/** Instance ids that were used. @throws {DeltaUnreadable} */
export function checkUses(value: unknown, refuse?: RefuseRow): InstanceUsed[] {
  return rowsOf(value, 'uses', refuse, (row) => {
    const [application, digest, hash, expiresAt] = list(row, 'uses', 4);
    return {
      application: each(application, isWord, 'uses'),
      digest: bytes(digest, 'uses', 16),
      hash: bytes(hash, 'uses', 32),
      expiresAt: each(expiresAt, isValue, 'uses'),
    };
  });
}

const unresolvedColumns = [isAnyRef, isMinute, isAmount, isAmount, isAmount];

/** What came with unknown instance ids. @throws {DeltaUnreadable} */
export function checkUnresolved(value: unknown, refuse?: RefuseRow): UnresolvedInstance[] {
  return rowsOf(value, 'unresolved', refuse, (row) => {
    const [application, environment, digest, hash, seconds, rows] = list(row, 'unresolved', 6);
    return {
      application: each(application, isWord, 'unresolved'),
      environment: each(environment, isWord, 'unresolved'),
      digest: bytes(digest, 'unresolved', 16),
      hash: bytes(hash, 'unresolved', 32),
      seconds: each(seconds, isWord, 'unresolved'),
      rows: numbers(rows, 'unresolved', unresolvedColumns, refuse),
    };
  });
}
