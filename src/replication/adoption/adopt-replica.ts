import { checkPlace } from '../postgres/init-checks.ts';
import { idWhileFilled } from '../postgres/layout.ts';
import { storedSecret } from '../postgres/postgres-key.ts';
import { type Adopted, AdoptionRefused, type FillingDeps, fillPostgres, postgresIdOf } from './fill.ts';
import type { Source } from './set-aside.ts';

export interface FromReplicaDeps extends FillingDeps {
  readonly source: Source;
  /** Id of the directory. */
  readonly directory: string;
  /** The HMAC key of digests, which is the database's. */
  readonly secret: Buffer;
}

/**
 * Fills an empty database with the content of a node, after the old database was lost. It keeps the id of the old one, so every node
 * continues: one that is behind loads the snapshot, and ships the deltas that it keeps beyond it. It can be interrupted at any moment,
 * and resumes when called again. Until it is finished, the database has another id, which nodes refuse.
 * @throws {AdoptionRefused} the database has other content; nothing was changed
 */
export async function adoptReplica(deps: FromReplicaDeps): Promise<Adopted> {
  const { source, directory, connection, key } = deps;
  const { engine, applied } = source.holding;
  const [idMeanwhile, snapshot] = [idWhileFilled(engine), `replica-${directory}`];
  const found = await postgresIdOf(connection);
  if (found === engine) {
    const { rows } = await connection.query<{ filled: boolean }>({
      text: `SELECT EXISTS (
               SELECT 1 FROM fm_snapshot WHERE snapshot = $3 AND state = 'whole' AND position = $1 AND id = $2
             ) AS filled FROM fm_entry WHERE position = $1 AND id = $2`,
      values: [applied.position, applied.id, snapshot],
    });
    if (rows[0]?.filled) return { engine }; // The answer to an earlier attempt was lost.
    if (rows[0] !== undefined)
      throw new AdoptionRefused(
        `Cannot fill this database: it already has all counts of this directory (id ${found}); start the nodes with it. Nothing was changed`,
      );
  }
  if (found !== undefined && found !== idMeanwhile)
    throw new AdoptionRefused(
      `Cannot fill this database: it has other content of flagmeter (id ${found}); create an empty one, and give its URL to all nodes. Nothing was changed`,
    );
  if (found === undefined) await checkPlace(connection, deps.allowAsynchronous);
  const secret = storedSecret(deps.secret, key);
  const filling = { ...source.holding, idMeanwhile, snapshot, directory, secret };
  return fillPostgres(deps, filling, source, found !== undefined);
}
