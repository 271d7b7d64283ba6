import { contextOf } from '../cli/context.ts';
import { engineStatusCommand } from '../cli/engine-commands.ts';
import { readFlags } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { Connection } from '../replication/postgres/connection.ts';
import { readEngineKey, readSecret } from '../replication/postgres/engine-key.ts';
import { readEngine } from '../replication/postgres/engine-report.ts';
import { engineWarnings } from '../replication/postgres/engine-warnings.ts';
import { checkEngine } from '../replication/postgres/layout.ts';
import { systemClock } from '../runtime/clock.ts';
import { engineSettings, withEngine } from '../serve/engine-connection.ts';
import { statusText } from './engine-status-text.ts';

/**
 * Shows an engine and its nodes. It changes nothing.
 * @throws {UsageError} for wrong flags or URL
 * @throws {EngineUnfit} it is not initialised, or a key file is given that is not its own
 * @throws {EngineError} it cannot be reached
 */
export async function engineStatus(argv: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(argv, engineStatusCommand.flags);
  const { config, address } = engineSettings(flags, terminal);
  return withEngine(address, async (connection) => {
    if (config.engineKeyFile !== undefined) await checkKey(connection, config.engineKeyFile);
    const asked = systemClock.now();
    const report = await readEngine(connection);
    const skewMs = (asked + systemClock.now()) / 2 - report.server.now.getTime();
    const host = connection.host ?? '';
    const warnings = engineWarnings(report, skewMs);
    terminal.out(
      flags.has('json')
        ? `${JSON.stringify({ host, ...report, warnings })}\n`
        : statusText(report, host, warnings, contextOf(terminal)),
    );
    return 0;
  });
}

async function checkKey(connection: Connection, file: string): Promise<void> {
  const key = readEngineKey(file);
  const { secret } = await connection.transaction((run) => checkEngine(run));
  readSecret(secret, key);
}
