import { randomBytes } from 'node:crypto';
import { checkPrepared, openPreparedOrCopy } from '../../accounts/prepare.ts';
import type { Given } from '../../cli/command.ts';
import { UsageError } from '../../cli/flags.ts';
import type { Terminal } from '../../cli/terminal.ts';
import { adopt } from '../../replication/adoption/adopt.ts';
import type { Adopted } from '../../replication/adoption/fill.ts';
import type { Uploaded } from '../../replication/log-snapshots.ts';
import type { PostgresKey } from '../../replication/postgres/postgres-key.ts';
import { showPostgres } from '../../replication/postgres/postgres-url.ts';
import { limitsOf, retentionOf } from '../../serve/config/limits.ts';
import { withPostgres } from '../../serve/postgres-connection.ts';
import { foldJournals } from '../../storage/commit/fold-journals.ts';
import { lockDataDirectory } from '../../storage/lmdb/lock.ts';
import { adoptFromReplica } from './postgres-adopt-replica.ts';
import { mebibytes, uploadProgress } from './progress.ts';
import { newDatabaseKey, postgresSettings } from './server-flags.ts';

/**
 * Moves the store of a single machine to PostgreSQL. After an interruption, the next run resumes.
 * @throws {UsageError} for wrong flags
 * @throws {Error} when the directory or PostgreSQL cannot be used; nothing has changed then
 */
export async function postgresAdopt(given: Given, terminal: Terminal): Promise<number> {
  if (given.has('from-replica')) return adoptFromReplica(given, terminal);
  const misplaced = ['set-aside', 'dry-run'].find((name) => given.has(name));
  if (misplaced !== undefined) throw new UsageError(`Cannot use --${misplaced} without --from-replica`);
  const wanted = postgresSettings(given, terminal);
  const { data } = wanted.config;
  const key = newDatabaseKey(given, wanted.config);
  checkPrepared(data);
  const lock = lockDataDirectory(data);
  try {
    for (const end of await foldJournals(data, wanted.config.maxIdentities)) terminal.err(`${end}\n`);
    terminal.err(`moving ${data} to ${showPostgres(wanted.address)}\n`);
    const adopted = await move(wanted, key, given.has('allow-asynchronous'), uploadProgress(terminal));
    terminal.out(given.has('json') ? `${JSON.stringify(adopted)}\n` : summary(adopted, data));
    return 0;
  } finally {
    lock.release();
  }
}

async function move(
  { config, address }: ReturnType<typeof postgresSettings>,
  key: PostgresKey | undefined,
  allowAsynchronous: boolean,
  onPart: (uploaded: Uploaded) => void,
) {
  const { data, maxIdentities: identities, exposureDays } = config;
  const settings = { ...limitsOf(config), ...retentionOf(config), identities, exposureDays };
  const accounts = (await openPreparedOrCopy(data))!;
  try {
    return await withPostgres(address, (connection) =>
      adopt({ data, accounts, connection, key, settings, allowAsynchronous, randomBytes, onPart }),
    );
  } finally {
    await accounts.lmdb.close();
  }
}

function summary({ engine, records, usage }: Adopted, data: string): string {
  const moved =
    records === undefined || usage === undefined
      ? 'Everything is already in PostgreSQL'
      : `${records} records of accounts and ${mebibytes(usage.bytes)} of usage are in PostgreSQL`;
  return `${moved}. ${data} now belongs to database ${engine}: continue with flagmeter serve --data ${data} and this PostgreSQL.\n`;
}
