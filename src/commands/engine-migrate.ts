import { engineMigrateCommand } from '../cli/engine-commands.ts';
import { readFlags } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';
import { migrate } from '../replication/postgres/migrations.ts';
import { engineSettings, withEngine } from '../serve/engine-connection.ts';

/**
 * Brings the tables of an engine to the layout of this program.
 * @throws {UsageError} for wrong flags or URL
 * @throws {EngineUnfit} it is not initialised, is newer, or nodes run that could not go on; nothing has changed then
 */
export async function engineMigrate(argv: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(argv, engineMigrateCommand.flags);
  const { address } = engineSettings(flags, terminal);
  const { from, to } = await withEngine(address, (connection) => migrate(connection));
  const text =
    from === to
      ? `The engine has layout ${to} already; nothing was changed.\n`
      : `The engine had layout ${from}, and has layout ${to} now.\n`;
  terminal.out(flags.has('json') ? `${JSON.stringify({ from, to })}\n` : text);
  return 0;
}
