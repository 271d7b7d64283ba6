import type { Connection } from './connection.ts';
import { dailySchema } from './daily-schema.ts';
import { noPostgres, PostgresUnfit, unfit } from './postgres-error.ts';
import { postgresLayout } from './schema.ts';
import type { Run } from './statement.ts';

/** A step from the previous layout to `layout`. */
export interface Migration {
  readonly layout: number;
  /** Versions that know this layout can use the tables after the step. */
  readonly oldestLayout: number;
  readonly statements: readonly string[];
}

/** All steps, in order. A step that old versions can use only adds columns with defaults, tables and indexes. */
export const migrations: readonly Migration[] = [{ layout: 2, oldestLayout: 1, statements: [dailySchema] }];

/** A node with a heartbeat within this time is running. */
const aliveMs = 10_000;

/**
 * Migrates the tables to the latest layout, in one transaction. Nodes may run meanwhile, unless a step excludes their version.
 * @param steps in order; the last leads to `target`
 * @throws {PostgresUnfit} the tables are missing, their layout is newer, or running nodes would be excluded
 */
export function migrate(
  connection: Connection,
  steps = migrations,
  target = postgresLayout,
): Promise<{ readonly from: number; readonly to: number }> {
  const migrated = connection.transaction(async (run) => {
    const { rows } = await run<{ layout: number }>({ text: 'SELECT layout FROM fm_engine FOR UPDATE' }).catch(
      unfit,
    );
    const from = rows[0]?.layout;
    if (from === undefined) throw noPostgres();
    if (from > target)
      throw new PostgresUnfit(
        `The database has layout ${from}, and this version knows layouts up to ${target}: use a newer flagmeter`,
      );
    const due = steps.filter(({ layout }) => layout > from);
    const oldest = Math.max(0, ...due.map(({ oldestLayout }) => oldestLayout));
    await refuseToLeaveBehind(run, oldest);
    for (const { layout, oldestLayout, statements } of due) {
      for (const text of statements) void run({ text });
      void run({
        text: 'UPDATE fm_engine SET layout = $1, oldest_layout = $2',
        values: [layout, oldestLayout],
      });
    }
    return { from, to: due.at(-1)?.layout ?? from };
  });
  return migrated.catch(unfit);
}

async function refuseToLeaveBehind(run: Run, oldest: number): Promise<void> {
  const { rows } = await run<{ name: string; version: string }>({
    text: `SELECT name, version FROM fm_node
           WHERE layout < $1 AND state = 'up' AND beat_at > clock_timestamp() - $2 * interval '1 ms' ORDER BY name`,
    values: [oldest, aliveMs],
  });
  if (rows.length === 0) return;
  const nodes = rows.map(({ name, version }) => `${name} (flagmeter ${version})`).join(', ');
  throw new PostgresUnfit(
    `These nodes run a program that cannot use the new tables: ${nodes}; stop them first, then migrate again`,
  );
}
