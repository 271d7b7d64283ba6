import { randomBytes } from 'node:crypto';
import { checkPrepared, openPreparedOrCopy } from '../accounts/prepare.ts';
import { engineAdoptCommand } from '../cli/engine-commands.ts';
import { readFlags, UsageError } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';
import { adopt } from '../replication/adoption/adopt.ts';
import type { Adopted } from '../replication/adoption/fill.ts';
import type { Uploaded } from '../replication/log-snapshots.ts';
import { readEngineKey } from '../replication/postgres/engine-key.ts';
import { showEngine } from '../replication/postgres/engine-url.ts';
import { type EngineSettings, engineSettings, withEngine } from '../serve/engine-connection.ts';
import { limitsOf, retentionOf } from '../serve/limits.ts';
import { foldJournals } from '../storage/commit/fold-journals.ts';
import { lockDataDirectory } from '../storage/lmdb/lock.ts';
import { adoptFromReplica } from './engine-adopt-replica.ts';
import { mebibytes, uploadProgress } from './upload-progress.ts';

/**
 * Moves the store of a single machine into an engine. Interrupted, it goes on when it is run again.
 * @throws {UsageError} for wrong flags
 * @throws {Error} when the directory or the engine cannot be used for it; nothing has changed then
 */
export async function engineAdopt(argv: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(argv, engineAdoptCommand.flags);
  if (flags.has('from-replica')) return adoptFromReplica(flags, terminal);
  const misplaced = ['set-aside', 'dry-run'].find((name) => flags.has(name));
  if (misplaced !== undefined) throw new UsageError(`Cannot use --${misplaced} without --from-replica`);
  const wanted = engineSettings(flags, terminal);
  const { data } = wanted.config;
  checkPrepared(data);
  const lock = lockDataDirectory(data);
  try {
    await foldJournals(data, wanted.config.maxIdentities);
    terminal.err(`moving ${data} into ${showEngine(wanted.address)}\n`);
    const adopted = await move(wanted, flags.has('allow-asynchronous'), uploadProgress(terminal));
    terminal.out(flags.has('json') ? `${JSON.stringify(adopted)}\n` : summary(adopted, data));
    return 0;
  } finally {
    lock.release();
  }
}

async function move(
  { config, address }: EngineSettings,
  allowAsynchronous: boolean,
  onPart: (uploaded: Uploaded) => void,
) {
  const { data, engineKeyFile, maxIdentities: identities, exposureDays } = config;
  const key = engineKeyFile === undefined ? undefined : readEngineKey(engineKeyFile);
  const settings = { ...limitsOf(config), ...retentionOf(config), identities, exposureDays };
  const accounts = (await openPreparedOrCopy(data))!;
  try {
    return await withEngine(address, (connection) =>
      adopt({ data, accounts, connection, key, settings, allowAsynchronous, randomBytes, onPart }),
    );
  } finally {
    await accounts.lmdb.close();
  }
}

function summary({ engine, records, usage }: Adopted, data: string): string {
  const moved =
    records === undefined || usage === undefined
      ? 'Everything is in the engine already'
      : `${records} records of accounts and ${mebibytes(usage.bytes)} of usage are in the engine`;
  return `${moved}. ${data} belongs to engine ${engine} now: go on with flagmeter serve --data ${data} and this engine.\n`;
}
