import { UsageError } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';
import { settings } from '../contract/config-schema.ts';
import { Connection } from '../replication/postgres/connection.ts';
import { type EngineAddress, EngineUrlError, parseEngineUrl } from '../replication/postgres/engine-url.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLog } from '../runtime/log.ts';
import { type Config, loadConfig } from './config.ts';

/** What a command that opens an engine was told about it. */
export interface EngineSettings {
  readonly config: Config;
  readonly address: EngineAddress;
}

/** A commit may wait for its standby. */
const deadlineMs = 30_000;

/** @throws {UsageError} for settings that are wrong, or name no engine */
export function engineSettings(flags: ReadonlyMap<string, string>, terminal: Terminal): EngineSettings {
  const given = settings.filter(({ flag }) => flags.has(flag));
  const argv = given.map(({ flag }) => `--${flag}=${flags.get(flag)}`);
  const config = loadConfig({ ...terminal, argv });
  if (config.engine === undefined)
    throw new UsageError(
      'Cannot find the engine: give its URL with --engine-file, --engine or FLAGMETER_ENGINE',
    );
  return { config, address: engineAddress(config.engine) };
}

/** @throws {UsageError} */
export function engineAddress(url: string): EngineAddress {
  try {
    return parseEngineUrl(url);
  } catch (error) {
    if (error instanceof EngineUrlError) throw new UsageError(error.message);
    throw error;
  }
}

/** Opens an engine for one command. What goes wrong is in the error: nothing is logged. */
export async function withEngine<T>(
  address: EngineAddress,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const log = createLog('error', () => {}, systemClock);
  const connection = new Connection(address, {
    name: 'flagmeter engine',
    log,
    clock: systemClock,
    deadlineMs,
  });
  try {
    return await use(connection);
  } finally {
    await connection.close();
  }
}
