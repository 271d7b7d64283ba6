import { tableNames } from './schema.ts';
import type { Run } from './statement.ts';

const text = `SELECT current_user AS "user", array(
    SELECT name || ' (' || string_agg("right", ', ') || ')'
    FROM unnest($1::text[]) AS name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS "right"
    WHERE NOT has_table_privilege(to_regclass(name), "right") GROUP BY name ORDER BY name) AS missing`;

/** Reads which rights on the tables the role of the session lacks, such as `fm_head (UPDATE)`. */
export async function readMissingRights(
  run: Run,
): Promise<{ readonly user: string; readonly missing: readonly string[] }> {
  const { rows } = await run<{ user: string; missing: string[] }>({ text, values: [tableNames] });
  return rows[0]!;
}
