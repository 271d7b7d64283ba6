import type { Journal } from '../journal.ts';
import type { Database } from '../scene/database.ts';

/** Queries whose results must be empty. */
const mustBeEmpty: Readonly<Record<string, string>> = {
  'versions of the accounts with gaps': `
    SELECT count(*)::int, min(version), max(version) FROM fm_change
    HAVING count(*) > 0 AND max(version) - min(version) + 1 <> count(*)`,
  'a head of the accounts that is not the last change': `
    SELECT position, (SELECT max(version) FROM fm_change) AS last FROM fm_head
    WHERE log = 'control' AND position <> (SELECT max(version) FROM fm_change)`,
  'positions of the log with gaps': `
    SELECT count(*)::int, min(position), max(position) FROM fm_entry
    HAVING count(*) > 0 AND max(position) - min(position) + 1 <> count(*)`,
  'a head of the log that is not the last entry': `
    SELECT position, (SELECT max(position) FROM fm_entry) AS last FROM fm_head
    WHERE log = 'data' AND position <> (SELECT max(position) FROM fm_entry)`,
  'deltas that are in the log twice, or missing': `
    SELECT stream, count(*)::int, min(seq), max(seq) FROM fm_entry WHERE kind = 'delta' GROUP BY stream
    HAVING count(*) <> count(DISTINCT seq) OR max(seq) - min(seq) + 1 <> count(*)`,
  'rows that were refused': 'SELECT stream, seq, place, reason FROM fm_refused',
};

/** Checks that the logs of accounts and usage in PostgreSQL have no gaps, duplicates or refused rows. */
export async function checkPostgres(database: Database, journal: Journal): Promise<void> {
  for (const [what, query] of Object.entries(mustBeEmpty)) {
    const rows = await database.query(query);
    if (rows.length > 0) journal.violation(`PostgreSQL has ${what}: ${JSON.stringify(rows.slice(0, 5))}`);
  }
}
