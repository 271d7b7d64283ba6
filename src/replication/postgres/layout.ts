import { noPostgres, PostgresUnfit, unfit } from './postgres-error.ts';
import { type PostgresKey, readSecret } from './postgres-key.ts';
import { postgresLayout, tableNames } from './schema.ts';
import type { Run } from './statement.ts';

/** What an engine says of itself. */
export interface PostgresFacts {
  readonly id: string;
  readonly layout: number;
  readonly oldestLayout: number;
  /** Of digests of instance ids, as it is stored. */
  readonly secret: string;
}

/**
 * Reads which engine this is, and checks that this program may use its tables. Do it on each new session: another program
 * may have migrated them meanwhile.
 * @throws {PostgresUnfit} it is not initialised, has tables that this program does not know, or does not let this role use them
 */
export async function checkPostgres(run: Run, own = postgresLayout): Promise<PostgresFacts> {
  const text = 'SELECT id, layout, oldest_layout AS "oldestLayout", secret FROM fm_engine';
  const { rows } = await run<PostgresFacts>({ name: 'fm-engine', text }).catch(unfit);
  const [facts] = rows;
  if (facts === undefined) throw noPostgres();
  const { layout, oldestLayout } = facts;
  if (own < oldestLayout)
    throw new PostgresUnfit(
      `The engine has layout ${layout}, which a newer flagmeter has made; this one knows layout ${own}: update it on this node`,
    );
  if (own > layout)
    throw new PostgresUnfit(
      `The engine has layout ${layout}, and this program needs layout ${own}: run flagmeter postgres migrate first; nodes of the version before may go on meanwhile`,
    );
  const { user, missing } = await readMissingRights(run);
  if (missing.length > 0)
    throw new PostgresUnfit(
      `The role ${user} lacks rights on ${missing.join(', ')}: make it the owner of the tables, or grant them`,
    );
  return facts;
}

/** The id of an engine while it is being filled from a replica. */
export const idWhileFilled = (id: string): string => `${id}${beingFilled}`;
const beingFilled = ', which is being filled';

/** An engine that is being filled: it may be used soon. */
export class PostgresBeingFilled extends PostgresUnfit {}

/**
 * As `checkPostgres`, for each session of a node: the database may have been replaced. Returns the secret of digests as well.
 * @param id of the engine that the directory has used before
 * @throws {PostgresUnfit} also when this is another one, one that is being filled, or one that has another key file
 */
export async function checkSamePostgres(
  run: Run,
  id: string | undefined,
  key: PostgresKey | undefined,
): Promise<PostgresFacts & { readonly digestSecret: Buffer }> {
  const facts = await checkPostgres(run);
  if (facts.id.endsWith(beingFilled))
    throw new PostgresBeingFilled(
      `The database holds engine ${facts.id}: if flagmeter postgres adopt --from-replica was interrupted, run it again`,
    );
  checkId(id, facts.id);
  return { ...facts, digestSecret: readSecret(facts.secret, key) };
}

/** @throws {PostgresUnfit} */
export function checkId(wanted: string | undefined, found: string | null | undefined): void {
  if (wanted === undefined || wanted === found) return;
  throw new PostgresUnfit(
    `This data directory was used with another engine (${wanted}, and --postgres has ${found}): give the right --postgres, or an empty --data`,
  );
}

const rightsText = `SELECT current_user AS "user", array(
    SELECT name || ' (' || string_agg("right", ', ') || ')'
    FROM unnest($1::text[]) AS name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS "right"
    WHERE NOT has_table_privilege(to_regclass(name), "right") GROUP BY name ORDER BY name) AS missing`;

/** Reads which rights on the tables the role of the session lacks, such as `fm_head (UPDATE)`. */
export async function readMissingRights(
  run: Run,
): Promise<{ readonly user: string; readonly missing: readonly string[] }> {
  const { rows } = await run<{ user: string; missing: string[] }>({ text: rightsText, values: [tableNames] });
  return rows[0]!;
}
