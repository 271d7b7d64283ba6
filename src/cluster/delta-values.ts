import { minuteOf, seriesPerEnvironment, widthOf } from '../store/blocks.ts';
import { environmentOrdinal } from '../store/sketches.ts';
import { DeltaUnreadable } from './delta.ts';

/** Whether a number can be in a column of rows. */
type IsValid = (value: number) => boolean;

/** Whole numbers from 0 to below a limit. */
export const whole = (limit: number): IsValid => {
  return (value) => Number.isInteger(value) && value >= 0 && value < limit;
};
export const isWord = whole(2 ** 32);
export const isValue: IsValid = Number.isFinite;
export const isPosition = whole(2 ** 53);
export const isSequence: IsValid = (value) => isPosition(value) && value > 0;
export const isMinute = isWord;
/** A series, or an environment as a whole. */
export const isAnyRef = whole(2 ** 32 * seriesPerEnvironment);
export const isRef: IsValid = (value) => isAnyRef(value) && value % seriesPerEnvironment < environmentOrdinal;
export const isOrdinal = whole(environmentOrdinal);
export const isAnyOrdinal = whole(seriesPerEnvironment);
export const isBucket: IsValid = (value) =>
  isPosition(value) && widthOf(value) <= 2 && isWord(minuteOf(value));
export const isAmount: IsValid = (value) => isValue(value) && value >= 0;

/** @throws {DeltaUnreadable} */
export function fail(what: string): never {
  throw new DeltaUnreadable(`its ${what} cannot be`);
}

/** A number. @throws {DeltaUnreadable} */
export function each(value: unknown, isValid: IsValid, what: string): number {
  return typeof value === 'number' && isValid(value) ? value : fail(what);
}

/** A text that is not empty. @throws {DeltaUnreadable} */
export function text(value: unknown, what: string, longest: number): string {
  return typeof value === 'string' && value.length > 0 && value.length <= longest ? value : fail(what);
}

/** A list, of so many values. @throws {DeltaUnreadable} */
export function list(value: unknown, what: string, length?: number): unknown[] {
  return Array.isArray(value) && (length === undefined || value.length === length) ? value : fail(what);
}

/** Is told of a row that is left out. Without it, a row that cannot be makes all of the delta unreadable. */
export type RefuseRow = (place: string, reason: string, row: string) => void;

/** The rows of a list, each read by itself. @throws {DeltaUnreadable} */
export function rowsOf<T>(
  value: unknown,
  what: string,
  refuse: RefuseRow | undefined,
  read: (row: unknown) => T,
): T[] {
  const rows: T[] = [];
  for (const row of list(value, what)) {
    try {
      rows.push(read(row));
    } catch (error) {
      if (refuse === undefined || !(error instanceof DeltaUnreadable)) throw error;
      refuse(what, error.message, textOf(row));
    }
  }
  return rows;
}

/** Flat rows, each column with its check. @throws {DeltaUnreadable} */
export function numbers(
  value: unknown,
  what: string,
  columns: readonly IsValid[],
  refuse?: RefuseRow,
): number[] {
  const found = list(value, what);
  const width = columns.length;
  const isRight = (each: unknown, at: number) => typeof each === 'number' && columns[at % width]!(each);
  if (found.length % width === 0 && found.every(isRight)) return found as number[];
  if (refuse === undefined) fail(what);
  const kept: number[] = [];
  for (let at = 0; at < found.length; at += width) {
    const row = found.slice(at, at + width);
    if (row.length === width && row.every(isRight)) kept.push(...(row as number[]));
    else refuse(what, `its ${what} cannot be`, textOf(row));
  }
  return kept;
}

const longestRow = 1000;

/** A row for people, whatever it is. */
function textOf(row: unknown): string {
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  return (JSON.stringify(row, plain) ?? typeof row).slice(0, longestRow);
}

/** @throws {DeltaUnreadable} */
export function parseJson(value: string, what: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return fail(what);
  }
}

/** Bytes, so many. @throws {DeltaUnreadable} */
export function bytes(value: unknown, what: string, length: number): Uint8Array {
  return value instanceof Uint8Array && value.length === length ? value : fail(what);
}
