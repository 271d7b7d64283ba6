import { EngineUnfit, noEngine, unfit } from './engine-error.ts';
import { readMissingRights } from './rights.ts';
import { engineLayout } from './schema.ts';
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

/**
 * As `checkEngine`, for a directory that has used an engine before.
 * @throws {EngineUnfit} also when this is another one, or one that is being filled
 */
export async function checkSameEngine(run: Run, id: string | undefined): Promise<EngineFacts> {
  const facts = await checkEngine(run);
  checkId(id, facts.id);
  return facts;
}

/** @throws {EngineUnfit} */
export function checkId(wanted: string | undefined, found: string): void {
  if (wanted === undefined || wanted === found) return;
  throw new EngineUnfit(
    `The database holds engine ${found}, not ${wanted}: nothing is read from it or written to it`,
  );
}
