import { contextOf } from '../cli/context.ts';
import { readFlags } from '../cli/flags.ts';
import { postgresStatusCommand } from '../cli/server-commands.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { Connection } from '../replication/postgres/connection.ts';
import { checkPostgres } from '../replication/postgres/layout.ts';
import { readPostgresKey, readSecret } from '../replication/postgres/postgres-key.ts';
import { readPostgres } from '../replication/postgres/postgres-report.ts';
import { postgresWarnings } from '../replication/postgres/postgres-warnings.ts';
import { systemClock } from '../runtime/clock.ts';
import { postgresSettings, withPostgres } from '../serve/postgres-connection.ts';
import { statusText } from './postgres-status-text.ts';

/**
 * Shows an engine and its nodes. It changes nothing.
 * @throws {UsageError} for wrong flags or URL
 * @throws {PostgresUnfit} it is not initialised, or a key file is given that is not its own
 * @throws {PostgresError} it cannot be reached
 */
export async function postgresStatus(argv: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(argv, postgresStatusCommand.flags);
  const { config, address } = postgresSettings(flags, terminal);
  return withPostgres(address, async (connection) => {
    if (config.postgresKeyFile !== undefined) await checkKey(connection, config.postgresKeyFile);
    const asked = systemClock.now();
    const report = await readPostgres(connection);
    const skewMs = (asked + systemClock.now()) / 2 - report.server.now.getTime();
    const host = connection.host ?? '';
    const warnings = postgresWarnings(report, skewMs);
    terminal.out(
      flags.has('json')
        ? `${JSON.stringify({ host, ...report, warnings })}\n`
        : statusText(report, host, warnings, contextOf(terminal)),
    );
    return 0;
  });
}

async function checkKey(connection: Connection, file: string): Promise<void> {
  const key = readPostgresKey(file);
  const { secret } = await connection.transaction((run) => checkPostgres(run));
  readSecret(secret, key);
}
