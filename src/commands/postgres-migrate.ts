import { readFlags } from '../cli/flags.ts';
import { postgresMigrateCommand } from '../cli/server-commands.ts';
import type { Terminal } from '../cli/terminal.ts';
import { migrate } from '../replication/postgres/migrations.ts';
import { postgresSettings, withPostgres } from '../serve/postgres-connection.ts';

/**
 * Brings the tables of an engine to the layout of this program.
 * @throws {UsageError} for wrong flags or URL
 * @throws {PostgresUnfit} it is not initialised, is newer, or nodes run that could not go on; nothing has changed then
 */
export async function postgresMigrate(argv: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(argv, postgresMigrateCommand.flags);
  const { address } = postgresSettings(flags, terminal);
  const { from, to } = await withPostgres(address, (connection) => migrate(connection));
  const text =
    from === to
      ? `The engine has layout ${to} already; nothing was changed.\n`
      : `The engine had layout ${from}, and has layout ${to} now.\n`;
  terminal.out(flags.has('json') ? `${JSON.stringify({ from, to })}\n` : text);
  return 0;
}
