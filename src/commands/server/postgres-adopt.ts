import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { checkPrepared, openPreparedOrCopy } from '../../accounts/prepare.ts';
import type { Arguments, Terminal } from '../../cli/command.ts';
import { UsageError } from '../../cli/options.ts';
import { AdoptionRefusal, type AdoptionResult, adopt, adoptReplica } from '../../replication/adoption/adopt.ts';
import {
  type DirectoryState,
  type NodeStores,
  type Source,
  setAsideFolder,
  sourcesIn,
} from '../../replication/adoption/set-aside.ts';
import type { UploadResult } from '../../replication/log-upkeep.ts';
import { isSealed, type PostgresKey, readSecret } from '../../replication/postgres/postgres-key.ts';
import { showPostgres } from '../../replication/postgres/postgres-url.ts';
import { Spool } from '../../replication/spool.ts';
import { isPresent } from '../../runtime/files.ts';
import { getRetention, getSeriesLimits } from '../../serve/config/limits.ts';
import { loadPostgresKey, withPostgres } from '../../serve/postgres-connection.ts';
import { foldJournals } from '../../storage/commit/fold-journals.ts';
import { readCopyState } from '../../storage/lmdb/accounts.ts';
import { lockDataDirectory, waitUntilSharable } from '../../storage/lmdb/lock.ts';
import { openReplicaStore } from '../../storage/lmdb/usage.ts';
import { mebibytes, withUploadProgress } from './progress.ts';
import { newDatabaseKey, postgresSettings, readConfig } from './server-options.ts';

/**
 * Moves the store of a single machine to PostgreSQL. An interrupted move continues in the next run.
 * @throws {UsageError} for wrong options
 * @throws {Error} when the directory or PostgreSQL cannot be used; nothing has changed then
 */
export async function postgresAdopt(given: Arguments, terminal: Terminal): Promise<number> {
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
    const adopted = await withUploadProgress(terminal, (onPart) =>
      move(wanted, key, given.has('allow-asynchronous'), onPart),
    );
    const next = `${data} now belongs to database ${adopted.engine}: continue with flagmeter serve --data ${data} and this PostgreSQL`;
    terminal.out(given.has('json') ? `${JSON.stringify(adopted)}\n` : `${movedText(adopted)}. ${next}.\n`);
    return 0;
  } finally {
    lock.release();
  }
}

async function move(
  { config, address }: ReturnType<typeof postgresSettings>,
  key: PostgresKey | undefined,
  allowAsynchronous: boolean,
  onPart: (uploaded: UploadResult) => void,
) {
  const { data, maxIdentities: identities, exposureDays } = config;
  const settings = { ...getSeriesLimits(config), ...getRetention(config), identities, exposureDays };
  const accounts = (await openPreparedOrCopy(data))!;
  try {
    return await withPostgres(address, (connection) =>
      adopt({ data, accounts, connection, key, settings, allowAsynchronous, randomBytes, onPart }),
    );
  } finally {
    await accounts.lmdb.close();
  }
}

function movedText({ records, usage }: AdoptionResult): string {
  return records === undefined || usage === undefined
    ? 'Everything is already in PostgreSQL'
    : `${records} records of accounts and ${mebibytes(usage.bytes)} of usage are in PostgreSQL`;
}

/**
 * Fills an empty PostgreSQL from the directory of a node. An interrupted move continues in the next run.
 * @throws {UsageError} for wrong options
 * @throws {Error} when the directory or the database cannot be used; nothing has changed then
 */
async function adoptFromReplica(given: Arguments, terminal: Terminal): Promise<number> {
  if (given.has('dry-run')) return list(given, terminal);
  const wanted = postgresSettings(given, terminal);
  const { data } = wanted.config;
  checkPrepared(data);
  const lock = lockDataDirectory(data, 'stop that node first');
  try {
    const [adopted, { name }] = await inStores(data, (stores) => restore(stores, wanted, given, terminal));
    const kept = name === 'replica' ? undefined : join(data, setAsideFolder, name);
    terminal.out(given.has('json') ? `${JSON.stringify(adopted)}\n` : restoredText(adopted, kept));
    return 0;
  } finally {
    lock.release();
  }
}

async function list(given: Arguments, terminal: Terminal): Promise<number> {
  const { data } = readConfig(given, terminal, ['data', 'config']);
  checkPrepared(data);
  await waitUntilSharable(data);
  const all = await inStores(data, async (stores) => sourcesIn(stores));
  const name = given.value('set-aside');
  const sources = name === undefined ? all : [chosen(all, name, data)];
  const listed = sources.map(listing);
  terminal.out(given.has('json') ? `${JSON.stringify(listed)}\n` : listed.map(formatListing).join(''));
  return 0;
}

async function restore(
  stores: NodeStores,
  { config, address }: ReturnType<typeof postgresSettings>,
  given: Arguments,
  terminal: Terminal,
): Promise<[AdoptionResult, Source]> {
  const key = loadPostgresKey(config);
  const sources = sourcesIn(stores);
  const source = chosen(sources, given.value('set-aside'), stores.data);
  const secret = stores.spool.store.meta.get('secret');
  if (secret === undefined) throw notOfANode(stores.data);
  const stored = stores.spool.store.meta.get('stored secret');
  if (stored !== undefined && isSealed(stored)) readSecret(stored, key);
  const restored = sources.length === 1 ? '' : `${source.name} is restored\n`;
  terminal.err(`${sources.map(listing).map(formatListing).join('')}${restored}filling ${showPostgres(address)}\n`);
  const adopted = await withUploadProgress(terminal, (onPart) =>
    withPostgres(address, (connection) =>
      adoptReplica({
        source,
        connection,
        key,
        secret: Buffer.from(secret, 'base64'),
        directory: stores.spool.directory,
        allowAsynchronous: given.has('allow-asynchronous'),
        onPart,
      }),
    ),
  );
  return [adopted, source];
}

function chosen(sources: readonly Source[], name: string | undefined, data: string): Source {
  const found = name === undefined ? sources[0] : sources.find((each) => each.name === name);
  if (found !== undefined) return found;
  if (name === undefined)
    throw new AdoptionRefusal(
      `Cannot restore from ${data}: its replica is empty or incomplete; use the directory of another node. Nothing was changed`,
    );
  const names = sources.map((each) => each.name).join(', ');
  throw new AdoptionRefusal(`Cannot find ${name} in ${data}: it has ${names}. Nothing was changed`);
}

async function inStores<T>(data: string, use: (stores: NodeStores) => Promise<T>): Promise<T> {
  const accounts = (await openPreparedOrCopy(data))!;
  try {
    const copy = readCopyState(accounts.lmdb);
    if (copy === undefined || copy.adopting || !isPresent(join(data, 'spool/data.mdb'))) throw notOfANode(data);
    const usage = openReplicaStore(data);
    const spool = new Spool(data, () => '');
    try {
      return await use({ data, accounts, usage, spool });
    } finally {
      await Promise.all([usage.lmdb.close(), spool.close()]);
    }
  } finally {
    await accounts.lmdb.close();
  }
}

function notOfANode(data: string): AdoptionRefusal {
  return new AdoptionRefusal(
    `Cannot restore from ${data}: it is not the directory of a node; to move a single machine, omit --from-replica. Nothing was changed`,
  );
}

/** @param completeThrough 0 until the node has received data of every open stream */
export function listing({ name, holding }: Pick<Source, 'name'> & { readonly holding: HoldingSummary }) {
  const { applied, place, completeThrough } = holding;
  const through = completeThrough === 0 ? null : new Date(completeThrough).toISOString();
  return { name, position: applied.position, completeThrough: through, accounts: place.version };
}

type HoldingSummary = Pick<DirectoryState, 'applied' | 'place' | 'completeThrough'>;

export function formatListing({ name, position, completeThrough, accounts }: ReturnType<typeof listing>): string {
  const through = completeThrough ?? 'an unknown time';
  return `${name}: usage at position ${position}, complete through ${through}; accounts at version ${accounts}\n`;
}

/** @param kept folder of the set-aside data from which PostgreSQL was filled; `undefined` if the replica was used */
function restoredText(adopted: AdoptionResult, kept: string | undefined): string {
  const next = kept === undefined ? '' : `When the reports are correct, remove ${kept}\n`;
  return `${movedText(adopted)}. It is database ${adopted.engine} again: start the nodes with it.\n${next}`;
}
