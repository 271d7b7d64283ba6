import {
  type MessageRoute,
  routeNames,
  type SenderRoute,
  senderRoutes,
  type Transport,
  transportNames,
} from '../contract/message-routes.ts';
import { isName } from '../contract/names.ts';
import { greatestCouponRank, greatestRank } from '../storage/aggregate/hyperloglog.ts';
import { decodeMinute, decodeWidth, seriesPerEnvironment } from '../storage/lmdb/blocks.ts';
import type { LedgerExample } from '../storage/lmdb/ledger.ts';
import { featureItself, type SeriesName } from '../storage/lmdb/series.ts';
import {
  chunkValueBytes,
  environmentOrdinal,
  formCoupons,
  formRegisters,
  maxCoupons,
  readChunk,
} from '../storage/lmdb/sketches.ts';

/** Thrown for a delta with an unknown format, or with a value that no node writes. */
export class DeltaUnreadable extends Error {
  override readonly name = 'DeltaUnreadable';
}

type IsValid = (value: number) => boolean;

/** Returns a check that accepts integers from 0 to `limit - 1`. */
export const whole = (limit: number): IsValid => {
  return (value) => Number.isInteger(value) && value >= 0 && value < limit;
};
export const isWord = whole(2 ** 32);
export const isValue: IsValid = Number.isFinite;
export const isPosition = whole(2 ** 53);
export const isSequence: IsValid = (value) => isPosition(value) && value > 0;
export const isMinute = isWord;
/** Accepts the ref (number) of a series, or of an environment as a whole. */
export const isAnyRef = whole(2 ** 32 * seriesPerEnvironment);
export const isRef: IsValid = (value) => isAnyRef(value) && value % seriesPerEnvironment < environmentOrdinal;
export const isOrdinal = whole(environmentOrdinal);
export const isAnyOrdinal = whole(seriesPerEnvironment);
export const isBucket: IsValid = (value) => isPosition(value) && decodeWidth(value) <= 2 && isWord(decodeMinute(value));
export const isAmount: IsValid = (value) => isValue(value) && value >= 0;

/** @throws {DeltaUnreadable} */
function fail(what: string): never {
  throw new DeltaUnreadable(`it has invalid ${what}`);
}

/** Reports an invalid row, which is then left out. Without this callback, such a row makes the delta unreadable. */
export type Refuse = (place: string, reason: string, row: unknown) => void;

/** The encoding and validation of a value of a delta. */
export interface Column<T> {
  pack(value: T): unknown;
  /** Decodes a value that this node encoded, without a check. */
  unpack(packed: unknown): T;
  /**
   * Decodes and checks a value from any node.
   * @param name name for messages
   * @throws {DeltaUnreadable}
   */
  read(packed: unknown, name: string, refuse: Refuse | undefined): T;
}

export type Of<C> = C extends Column<infer T> ? T : never;

type Columns<T> = { readonly [Name in keyof T]: Column<T[Name]> };

/** Returns a column whose values are encoded unchanged. */
function plain<T>(read: Column<T>['read']): Column<T> {
  return { pack: (value) => value, unpack: (packed) => packed as T, read };
}

/** Returns a column whose values are encoded unchanged, and checked. */
function valid<T>(isValid: (value: unknown) => boolean): Column<T> {
  return plain((packed, name) => (isValid(packed) ? (packed as T) : fail(name)));
}

/** Returns a column of numbers that pass a check. */
export function number(isValid: IsValid): Column<number> {
  return valid((value) => typeof value === 'number' && isValid(value));
}

/** Returns a column of texts that are not empty. */
export function text(longest: number): Column<string> {
  return valid((value) => typeof value === 'string' && value.length > 0 && value.length <= longest);
}

/** Returns a column of byte strings with one of these lengths. */
export function bytes(...lengths: number[]): Column<Uint8Array> {
  return valid((value) => value instanceof Uint8Array && lengths.includes(value.length));
}

/**
 * Returns a column whose value is a list of rows of numbers, encoded as one flat list.
 * @param place column name in messages about invalid rows; by default the column's own name
 */
export function numbers(columns: readonly IsValid[], place?: string): Column<readonly number[]> {
  const width = columns.length;
  const isRight = (each: unknown, at: number) => typeof each === 'number' && columns[at % width]!(each);
  return plain((packed, name, refuse) => {
    const found = list(packed, name);
    if (found.length % width === 0 && found.every(isRight)) return found as number[];
    const what = place ?? name;
    if (refuse === undefined) fail(what);
    const kept: number[] = [];
    for (let at = 0; at < found.length; at += width) {
      const row = found.slice(at, at + width);
      if (row.length === width && row.every(isRight)) kept.push(...(row as number[]));
      else refuse(what, `it has invalid ${what}`, formatRow(row));
    }
    return kept;
  });
}

/** Returns a column whose value is a row, encoded as a list of its cells. */
export function row<T>(columns: Columns<T>): Column<Readonly<T>> {
  const names = Object.keys(columns) as (keyof T & string)[];
  const createRow = (cells: unknown[], read: (name: keyof T & string, cell: unknown) => unknown) =>
    Object.fromEntries(names.map((name, at) => [name, read(name, cells[at])])) as T;
  return {
    pack: (value) => names.map((name) => columns[name].pack(value[name])),
    unpack: (packed) => createRow(packed as unknown[], (name, cell) => columns[name].unpack(cell)),
    read: (packed, what, refuse) =>
      createRow(list(packed, what, names.length), (name, cell) => columns[name].read(cell, name, refuse)),
  };
}

/** Returns a column with a list of rows. @param check additional check of a whole row */
export function rows<T>(columns: Columns<T>, check?: (each: Readonly<T>) => void): Column<readonly Readonly<T>[]> {
  const each = row(columns);
  return {
    pack: (values) => values.map((value) => each.pack(value)),
    unpack: (packed) => (packed as unknown[]).map((value) => each.unpack(value)),
    read: (packed, name, refuse) => {
      const found: Readonly<T>[] = [];
      for (const value of list(packed, name)) {
        try {
          const read = each.read(value, name, refuse);
          check?.(read);
          found.push(read);
        } catch (error) {
          if (refuse === undefined || !(error instanceof DeltaUnreadable)) throw error;
          refuse(name, error.message, formatRow(value));
        }
      }
      return found;
    },
  };
}

/** Checks that a value is a list. @throws {DeltaUnreadable} if the value is not a list, or has another length */
function list(value: unknown, what: string, length?: number): unknown[] {
  return Array.isArray(value) && (length === undefined || value.length === length) ? value : fail(what);
}

/** True if releases that know only format 1 of deltas would refuse a row with this route. */
export function isLaterRoute(route: unknown): boolean {
  return !earlierRoutes.includes(route) && route !== 'identities';
}

/**
 * True if releases that know only format 1 would refuse a ledger row with this subject (dimensions of the row).
 * @param subject as written by `encodeDimensions`
 */
export function isLaterSubject(subject: string): boolean {
  const fields = parseJson(subject, 4 * longestText);
  return Array.isArray(fields) && isLaterRoute(fields[2]);
}

const longestRow = 1000;

function formatRow(row: unknown): string {
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  return (JSON.stringify(row, plain) ?? typeof row).slice(0, longestRow);
}

/** The name of a series of a feature (`featureItself`), a variant, a metric, or a metric of a variant. */
export const seriesNames = valid<SeriesName>((parts) => {
  if (!Array.isArray(parts) || parts.length < 1 || parts.length > 3) return false;
  return parts.every((part: unknown, at) => {
    const isItself = part === featureItself && at === 1 && parts.length === 2;
    return typeof part === 'string' && (isItself || isName(part));
  });
});

/** The bytes of a chunk of a sketch, which estimates a number of users. `checkChunk` checks the content. */
export const chunkBytes = valid<Uint8Array>((value) => {
  if (!(value instanceof Uint8Array)) return false;
  const { length } = value;
  if (value[0] === formRegisters) return length === chunkValueBytes;
  return value[0] === formCoupons && length % 4 === 1 && length > 1 && length <= 1 + 4 * maxCoupons;
});

/** Checks that `writeChunk` could have encoded a chunk. @throws {DeltaUnreadable} */
export function checkChunk({ chunk, value }: { readonly chunk: number; readonly value: Uint8Array }): void {
  const content = readChunk(Buffer.from(value.buffer, value.byteOffset, value.length));
  if (content.registers?.some((rank) => rank > greatestRank)) fail('sketches');
  let before = -1;
  for (const coupon of content.coupons ?? []) {
    const prefix = coupon >>> 6;
    const rank = coupon & 63;
    if (prefix <= before || coupon >>> 27 !== chunk || rank === 0 || rank > greatestCouponRank) fail('sketches');
    before = prefix;
  }
}

const earlierRoutes: readonly unknown[] = ['telemetry', 'usage', 'metrics'];
const outcomes: readonly unknown[] = ['accepted', 'refused', 'noted'];
/** Maximum length of a text in a delta. It exceeds the limits of all texts that are stored for a sender. */
const longestText = 4096;

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestText;
}

function isTextOrNull(value: unknown): boolean {
  return value === null || isText(value);
}

export const shownText = valid<string>(isText);
export const shownTextOrNull = valid<string | null>(isTextOrNull);
export const transports = valid<Transport>((value) => transportNames.includes(value as Transport));
export const routes = valid<SenderRoute>((value) => senderRoutes.includes(value as SenderRoute));

/** The subject (dimensions) of a ledger row. It is stored, so it must be exactly what `encodeDimensions` writes. */
export const subjects = valid<string>(isSubject);
export const subjectsOrNone = valid<string>((value) => value === '' || isSubject(value));

function isSubject(subject: unknown): boolean {
  const fields = parseJson(subject, 4 * longestText);
  if (!Array.isArray(fields) || fields.length !== 8) return false;
  const [environment, transport, route, outcome, status, code, userAgent, instance] = fields;
  const isValidRow =
    (environment === null || isWord(environment as number)) &&
    transportNames.includes(transport as Transport) &&
    routeNames.includes(route as MessageRoute) &&
    outcomes.includes(outcome) &&
    whole(1000)(status as number) &&
    [code, userAgent, instance].every(isTextOrNull);
  return isValidRow && JSON.stringify(fields) === subject;
}

const exampleFields: readonly string[] = [
  'environment',
  'origin',
  'keyId',
  'keyPrefix',
  'keyType',
  'detail',
] satisfies (keyof LedgerExample)[];

export const examples: Column<LedgerExample | null> = {
  pack: (example) => JSON.stringify(example),
  unpack: (packed) => JSON.parse(packed as string) as LedgerExample | null,
  read(packed, name) {
    const example = parseJson(packed, 16 * longestText);
    const isObject = typeof example === 'object' && !Array.isArray(example);
    const isExample = Object.entries(example ?? {}).every(([key, held]) => {
      return exampleFields.includes(key) && isText(held);
    });
    return isObject && isExample ? example : fail(name);
  },
};

/** Parses a JSON text of limited length. Returns `undefined` if it is too long or invalid. */
function parseJson(value: unknown, longest: number): unknown {
  if (typeof value !== 'string' || value.length > longest) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
