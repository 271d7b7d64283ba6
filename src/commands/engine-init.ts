import { randomBytes } from 'node:crypto';
import { engineInitCommand } from '../cli/engine-commands.ts';
import { readFlags } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';
import { initEngine } from '../replication/accounts/init-engine.ts';
import { readEngineKey } from '../replication/postgres/engine-key.ts';
import { systemClock } from '../runtime/clock.ts';
import { engineSettings, withEngine } from '../serve/engine-connection.ts';
import { readEmail } from './admin-email.ts';
import { credentialsText } from './credentials.ts';
import { readPassword } from './password-file.ts';

/**
 * Makes the tables of an engine, and prints the first credentials, which are not shown again.
 * @throws {UsageError} for wrong flags, URL, e-mail address or password
 * @throws {EngineUnfit} it is initialised, or this role may not; nothing has changed then
 * @throws {EngineError} it cannot be reached, or the outcome is not known
 */
export async function engineInit(argv: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(argv, engineInitCommand.flags);
  const adminEmail = readEmail(flags.get('admin-email'));
  const file = { flag: 'admin-password-file', path: flags.get('admin-password-file'), email: adminEmail };
  const adminPassword = await readPassword(file, terminal);
  const { config, address } = engineSettings(flags, terminal);
  const { engineKeyFile, signingAlg } = config;
  const key = engineKeyFile === undefined ? undefined : readEngineKey(engineKeyFile);
  const wanted = {
    ...{ adminEmail, signingAlg, clock: systemClock, randomBytes },
    ...(adminPassword === undefined ? {} : { adminPassword }),
  };
  const init = { key, wanted, allowAsynchronous: flags.has('allow-asynchronous') };
  const { credentials } = await withEngine(address, (connection) => initEngine(connection, init));
  terminal.out(flags.has('json') ? `${JSON.stringify(credentials)}\n` : credentialsText(credentials));
  return 0;
}
