import { UsageError } from '../flags.ts';
import { timeOf } from './cells.ts';

/** Which rows of a source are imported. */
export interface Selection {
  /** `undefined` if the rows name none, or it is not known yet. */
  readonly environment: string | undefined;
  /** Only rows before this time, Unix seconds. */
  readonly before: number;
}

/** Reads the flag. A time relative to now would differ when the import is repeated. @throws {UsageError} */
export function beforeOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const at = timeOf(text);
  if (!Number.isNaN(at)) return at / 1000;
  throw new UsageError(`Cannot use --before ${text}: must be a time such as 2026-01-31T12:00:00Z or a day`);
}
