import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isPresent } from '../../runtime/files.ts';
import {
  type AccountTables,
  type CopyState,
  copyStateWriter,
  readCopyState,
} from '../../storage/lmdb/accounts.ts';
import { openDigestSecret } from '../../storage/lmdb/instances.ts';
import { type LmdbEnvironment, transact } from '../../storage/lmdb/lmdb.ts';
import { allMessages } from '../../storage/lmdb/messages.ts';
import { openReplicaStore, type ReplicaStore } from '../../storage/lmdb/usage.ts';
import { newCopy } from '../accounts/copy.ts';
import { CountedMessages } from '../counted-messages.ts';
import { checkPlace } from '../postgres/init-checks.ts';
import { newLogId } from '../postgres/log-position.ts';
import { storedSecret } from '../postgres/postgres-key.ts';
import { ReplicaState } from '../replica-state.ts';
import type { ReplicaSettings } from '../settings.ts';
import { ReplicaSnapshot } from '../snapshot.ts';
import { Spool } from '../spool.ts';
import {
  type Adopted,
  AdoptionRefused,
  type Content,
  checkUnused,
  type Filling,
  type FillingDeps,
  fillPostgres,
  postgresIdOf,
} from './fill.ts';
import { accountsIn } from './holding.ts';

interface AdoptionDeps extends FillingDeps {
  /** Locked, and not in use by a server. */
  readonly data: string;
  readonly accounts: AccountTables;
  readonly settings: ReplicaSettings;
  readonly randomBytes: (length: number) => Buffer;
}

/**
 * Moves the store of a single machine into an empty database, and turns its directory into that of a node. It can be interrupted at
 * any moment, and resumes when called again. Until everything is uploaded, the directory serves on one machine as before. Then it
 * belongs to the database, which takes over the store in one transaction.
 * @throws {AdoptionRefused} the database or the directory is unsuitable; nothing was changed
 */
export async function adopt(deps: AdoptionDeps): Promise<Adopted> {
  const { data, accounts, connection } = deps;
  const found = await postgresIdOf(connection);
  const begun = begunIn(data);
  const copy = readCopyState(accounts.lmdb);
  checkState(copy, begun, found);
  if (found === undefined) await checkPlace(connection, deps.allowAsynchronous);
  if (begun === undefined && copy !== undefined) return { engine: copy.engine };
  if (begun === undefined && found !== undefined) await checkUnused((asked) => connection.query(asked));
  const spool = new Spool(data, randomUUID);
  const usage = openReplicaStore(data);
  try {
    const adoption = begun ?? newAdoption(found ?? randomUUID(), deps.randomBytes);
    const { meta } = spool.store;
    transact(spool.store.lmdb, () => void meta.putSync(adoptionKey, JSON.stringify(adoption)));
    const secret = storedSecret(openDigestSecret(usage, deps.randomBytes), deps.key);
    const filling = fillingOf(adoption, spool.directory, secret);
    const content: Content = {
      parts() {
        addReplicaRows(usage, filling.applied.id, deps.settings);
        return new ReplicaSnapshot(usage).parts();
      },
      // The database may have the store from here on, so the directory must not serve on its own.
      uploaded: () => belong(accounts.lmdb, filling, true),
      accounts: () => accountsIn(accounts),
    };
    const adopted = await fillPostgres(deps, filling, content, found !== undefined);
    belong(accounts.lmdb, filling);
    transact(spool.store.lmdb, () => {
      meta.putSync('engine', adoption.engine);
      meta.removeSync(adoptionKey);
    });
    return adopted;
  } finally {
    await Promise.all([usage.lmdb.close(), spool.close()]);
  }
}

/** The ids of a move, chosen and stored before it begins, so that it can resume. */
interface Adoption {
  readonly engine: string;
  /** Id of the snapshot with the usage. */
  readonly snapshot: string;
  /** Id of the log entry that the snapshot has applied. */
  readonly entry: string;
  /** Id of the change with the accounts. */
  readonly change: string;
}

const adoptionKey = 'adoption';

/** The unfinished move of a directory. A directory without any is not changed. */
function begunIn(data: string): Adoption | undefined {
  if (!isPresent(join(data, 'spool/data.mdb'))) return undefined;
  const spool = new Spool(data, randomUUID);
  try {
    const text = spool.store.meta.get(adoptionKey);
    return text === undefined ? undefined : (JSON.parse(text) as Adoption);
  } finally {
    void spool.close();
  }
}

/**
 * Adds what a replica has besides usage, as if it had applied the first entry of a log. A server on a single machine ignores these
 * rows, so the directory can still be used as before.
 */
function addReplicaRows(store: ReplicaStore, entry: string, settings: ReplicaSettings): void {
  transact(store.lmdb, () => {
    for (const table of ['replica', 'streamSeries', 'messageTimes', 'forgotten', 'erased'] as const)
      store[table].clearSync();
    const messages = allMessages(store);
    const counted = new CountedMessages(store);
    for (const message of messages) counted.add(message);
    const state = new ReplicaState(store);
    state.set('settings', settings);
    state.set('own:applied', { position: 1, id: entry });
  });
}

function fillingOf(
  { engine, snapshot, entry, change }: Adoption,
  directory: string,
  secret: string,
): Filling {
  const first = { applied: { position: 1, id: entry }, place: { version: 1, id: change } };
  return { ...first, engine, idMeanwhile: engine, snapshot, directory, secret, streams: [], nodes: [] };
}

function newAdoption(engine: string, randomBytes: AdoptionDeps['randomBytes']): Adoption {
  return { engine, snapshot: randomUUID(), entry: newLogId(randomBytes), change: newLogId(randomBytes) };
}

/** Turns the accounts into a copy of the database's first version. */
function belong(lmdb: LmdbEnvironment, { engine, place }: Filling, adopting = false): void {
  const write = copyStateWriter(lmdb);
  const state = newCopy(engine, { position: place.version, id: place.id });
  transact(lmdb, () => write(adopting ? { ...state, adopting } : state));
}

/** @throws {AdoptionRefused} if the directory belongs to another database, or its move into another one has begun */
function checkState(
  copy: CopyState | undefined,
  begun: Adoption | undefined,
  found: string | undefined,
): void {
  const own = begun?.engine ?? copy?.engine;
  if (own === undefined || own === found) return;
  // An earlier attempt was interrupted before it created the tables.
  if (found === undefined && copy === undefined) return;
  const other = found === undefined ? 'is empty' : `has the id ${found}`;
  throw new AdoptionRefused(
    `Cannot move this directory: it belongs to the database with the id ${own}, and this one ${other}; give the URL of that database. Nothing was changed`,
  );
}
