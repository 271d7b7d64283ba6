import { EngineUnfit, noEngine, unfit } from './engine-error.ts';
import { type EngineKey, readSecret } from './engine-key.ts';
import { engineLayout, tableNames } from './schema.ts';
import type { Run } from './statement.ts';

/** What an engine says of itself. */
export interface EngineFacts {
  readonly id: string;
  readonly layout: number;
  readonly oldestLayout: number;
  /** Of digests of instance ids, as it is stored. */
  readonly secret: string;
}

/**
 * Reads which engine this is, and checks that this program may use its tables. Do it on each new session: another program
 * may have migrated them meanwhile.
 * @throws {EngineUnfit} it is not initialised, has tables that this program does not know, or does not let this role use them
 */
export async function checkEngine(run: Run, own = engineLayout): Promise<EngineFacts> {
  const text = 'SELECT id, layout, oldest_layout AS "oldestLayout", secret FROM fm_engine';
  const { rows } = await run<EngineFacts>({ name: 'fm-engine', text }).catch(unfit);
  const [facts] = rows;
  if (facts === undefined) throw noEngine();
  const { layout, oldestLayout } = facts;
  if (own < oldestLayout)
    throw new EngineUnfit(
      `The engine has layout ${layout}, which a newer flagmeter has made; this one knows layout ${own}: update it on this node`,
    );
  if (own > layout)
    throw new EngineUnfit(
      `The engine has layout ${layout}, and this program needs layout ${own}: run flagmeter engine migrate first; nodes of the version before may go on meanwhile`,
    );
  const { user, missing } = await readMissingRights(run);
  if (missing.length > 0)
    throw new EngineUnfit(
      `The role ${user} lacks rights on ${missing.join(', ')}: make it the owner of the tables, or grant them`,
    );
  return facts;
}

/** The id of an engine while it is being filled from a replica. */
export const idWhileFilled = (id: string): string => `${id}${beingFilled}`;
const beingFilled = ', which is being filled';

/** An engine that is being filled: it may be used soon. */
export class EngineBeingFilled extends EngineUnfit {}

/**
 * As `checkEngine`, for each session of a node: the database may have been replaced. Returns the secret of digests as well.
 * @param id of the engine that the directory has used before
 * @throws {EngineUnfit} also when this is another one, one that is being filled, or one that has another key file
 */
export async function checkSameEngine(
  run: Run,
  id: string | undefined,
  key: EngineKey | undefined,
): Promise<EngineFacts & { readonly digestSecret: Buffer }> {
  const facts = await checkEngine(run);
  if (facts.id.endsWith(beingFilled))
    throw new EngineBeingFilled(
      `The database holds engine ${facts.id}: if flagmeter engine adopt --from-replica was interrupted, run it again`,
    );
  checkId(id, facts.id);
  return { ...facts, digestSecret: readSecret(facts.secret, key) };
}

/** @throws {EngineUnfit} */
export function checkId(wanted: string | undefined, found: string | null | undefined): void {
  if (wanted === undefined || wanted === found) return;
  throw new EngineUnfit(
    `This data directory was used with another engine (${wanted}, and --engine has ${found}): give the right --engine, or an empty --data`,
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
