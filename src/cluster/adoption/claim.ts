import type { EngineSession } from '../../postgres/connection.ts';
import { checkEngine } from '../../postgres/layout.ts';
import { createTables } from '../../postgres/schema.ts';
import type { Run } from '../../postgres/statement.ts';
import type { Filling } from './filling.ts';

/** An engine that must not take this directory's store: the message says why. */
export class AdoptionRefused extends Error {
  override readonly name = 'AdoptionRefused';
}

export interface Claimant {
  readonly filling: Pick<Filling, 'idMeanwhile' | 'snapshot' | 'applied'>;
  /** The id of the directory. */
  readonly directory: string;
  /** The secret of the digests of instance ids, as it is to be stored. */
  readonly secret: string;
}

/** Which engine this is; `undefined` when it has no tables yet. */
export async function engineIdOf(connection: EngineSession): Promise<string | undefined> {
  const { rows } = await connection.query<{ found: string | null }>({
    text: "SELECT to_regclass('fm_engine')::text AS found",
  });
  if (rows[0]?.found == null) return undefined;
  return (await checkEngine((statement) => connection.query(statement))).id;
}

/**
 * Reserves an engine for a move: it makes the tables when there are none, and the snapshot that the usage goes into. What it finds
 * is confirmed by the commit, which waits for the standby as well.
 * @returns whether the engine has all of the store already
 * @throws {AdoptionRefused} the engine is in use, or is another one
 */
export function claimEngine(
  connection: EngineSession,
  { filling, directory, secret }: Claimant,
  hasTables: boolean,
): Promise<boolean> {
  const { idMeanwhile, snapshot, applied } = filling;
  return connection.transaction(async (run) => {
    if (!hasTables) await createTables(run, { id: idMeanwhile, secret });
    await run({ text: "SELECT 1 FROM fm_head WHERE log = 'control' FOR UPDATE" });
    const state = await stateOf(run, snapshot);
    if (state === 'whole') {
      await run({ text: 'UPDATE fm_snapshot SET bytes = bytes WHERE snapshot = $1', values: [snapshot] });
      return true;
    }
    await checkUnused(run, snapshot);
    await run({ text: 'UPDATE fm_engine SET secret = $1', values: [secret] });
    await run({
      text: `INSERT INTO fm_snapshot (snapshot, position, id, state, directory) VALUES ($1, $2, $3, 'building', $4)
             ON CONFLICT (snapshot) DO UPDATE SET at = now(), position = excluded.position, id = excluded.id`,
      values: [snapshot, applied.position, applied.id, directory],
    });
    return false;
  });
}

/**
 * Checks that nothing is in an engine but a move that was begun.
 * @param snapshot of the move, if one was begun
 * @throws {AdoptionRefused}
 */
export async function checkUnused(run: Run, snapshot = ''): Promise<void> {
  const [used] = await usesOf(run, snapshot);
  if (used !== undefined) throw inUse(used);
}

async function stateOf(run: Run, snapshot: string): Promise<string | undefined> {
  const text = 'SELECT state FROM fm_snapshot WHERE snapshot = $1';
  return (await run<{ state: string }>({ text, values: [snapshot] })).rows[0]?.state;
}

/** What is in an engine besides a move, in words. */
async function usesOf(run: Run, snapshot: string): Promise<string[]> {
  const { rows } = await run<{ what: string }>({
    text: `SELECT 'accounts' AS what FROM fm_head WHERE log = 'control' AND position > 0
      UNION ALL SELECT 'usage' FROM fm_head WHERE log = 'data' AND position > 0
      UNION ALL SELECT 'nodes' WHERE EXISTS (SELECT 1 FROM fm_node) OR EXISTS (SELECT 1 FROM fm_stream)
      UNION ALL SELECT 'a store that another directory has begun to move' WHERE EXISTS (
        SELECT 1 FROM fm_snapshot WHERE snapshot <> $1)`,
    values: [snapshot],
  });
  return rows.map(({ what }) => what);
}

function inUse(what: string): AdoptionRefused {
  return new AdoptionRefused(
    `Cannot move a store into this engine: it has ${what}; give a database of its own to each engine. Nothing was changed`,
  );
}
