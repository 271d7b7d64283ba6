/** The length of the log of usage. */
export interface LogLength {
  /** Entries that have their bodies. */
  readonly entries: number;
  /** Size of these bodies. */
  readonly bytes: number;
  /** When the oldest of these entries was appended, and its position; `null` without entries. */
  readonly since: Date | null;
  readonly first: number | null;
  /** Trimmed entries: only their ids are kept. */
  readonly ids: number;
}

/** Reads a `LogLength`. It scans the whole log. */
export const logLengthText = `SELECT count(body)::float8 AS entries, coalesce(sum(octet_length(body)), 0)::float8 AS bytes,
  min(at) FILTER (WHERE body IS NOT NULL) AS since, (min(position) FILTER (WHERE body IS NOT NULL))::float8 AS first,
  (count(*) - count(body))::float8 AS ids FROM fm_entry`;
