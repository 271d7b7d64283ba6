import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { allTables } from '../../engine/copy.ts';
import { RecordCodec } from '../../engine/record-codec.ts';
import type { EngineSession } from '../../postgres/connection.ts';
import type { EngineKey } from '../../postgres/engine-key.ts';
import { storedSecret } from '../../postgres/engine-key.ts';
import { checkPlace } from '../../postgres/init-checks.ts';
import { newLogId } from '../../postgres/log-id.ts';
import { isPresent } from '../../presence.ts';
import type { AccountStore } from '../../store/accounts.ts';
import { type CopyState, copyStateWriter, readCopyState } from '../../store/copy-state.ts';
import { openDigestSecret } from '../../store/instances.ts';
import type { LmdbEnvironment } from '../../store/lmdb.ts';
import { openReplicaStore } from '../../store/replica-store.ts';
import { transact } from '../../store/transact.ts';
import type { ReplicaSettings } from '../settings.ts';
import { ReplicaSnapshot } from '../snapshot.ts';
import { Spool } from '../spool.ts';
import { type Adoption, endAdoption, keepAdoption, readAdoption } from './adoption.ts';
import { AdoptionRefused, checkUnused, claimEngine, engineIdOf } from './claim.ts';
import { accountsIn, completeAdoption, encoded } from './complete.ts';
import type { Filling } from './filling.ts';
import { type Uploaded, uploadParts } from './upload.ts';
import { addReplicaRows } from './usage-rows.ts';

/** What moves, and into what. */
export interface AdoptionDeps {
  /** Locked, and used by no server. */
  readonly data: string;
  /** Those of the directory. */
  readonly accounts: AccountStore;
  readonly connection: EngineSession;
  readonly key: EngineKey | undefined;
  readonly settings: ReplicaSettings;
  /** Accepts that a failover may lose commits. */
  readonly allowAsynchronous?: boolean;
  readonly randomBytes: (length: number) => Buffer;
  /** Is told of the usage that has arrived. */
  readonly onPart: (uploaded: Uploaded) => void;
}

/** What was moved. `records` and `usage` are missing when an earlier attempt had moved them. */
export interface Adopted {
  readonly engine: string;
  readonly records?: number;
  readonly usage?: Uploaded;
}

/**
 * Moves the store of a single machine into an engine that is empty, and makes its directory that of a node. It can be interrupted at
 * any moment, and goes on when it is called again. Until all is uploaded the directory serves on one machine as before. Then it
 * belongs to the engine: one transaction there says that all of it is in.
 * @throws {AdoptionRefused} the engine or the directory is not fit for it; nothing was changed
 */
export async function adopt(deps: AdoptionDeps): Promise<Adopted> {
  const { data, accounts, connection } = deps;
  const found = await engineIdOf(connection);
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
    keepAdoption(spool.store, adoption);
    const secret = storedSecret(openDigestSecret(usage, deps.randomBytes), deps.key);
    const filling = fillingOf(adoption);
    const claimant = { filling, directory: spool.directory, secret };
    const isDone = await claimEngine(connection, claimant, found !== undefined);
    const moved = isDone ? {} : await move(deps, filling, usage);
    belong(accounts.lmdb, filling);
    endAdoption(spool.store, adoption.engine);
    return { engine: adoption.engine, ...moved };
  } finally {
    await Promise.all([usage.lmdb.close(), spool.close()]);
  }
}

/** The move that was begun with a directory. A directory that was never begun with is left as it is. */
function begunIn(data: string): Adoption | undefined {
  if (!isPresent(join(data, 'spool/data.mdb'))) return undefined;
  const spool = new Spool(data, randomUUID);
  try {
    return readAdoption(spool.store);
  } finally {
    void spool.close();
  }
}

async function move(
  { connection, accounts, key, settings, onPart }: AdoptionDeps,
  filling: Filling,
  usage: ReturnType<typeof openReplicaStore>,
): Promise<Pick<Adopted, 'records' | 'usage'>> {
  addReplicaRows(usage, filling.applied.id, settings);
  const parts = new ReplicaSnapshot(usage).parts();
  const uploaded = await uploadParts(connection, filling.snapshot, parts, onPart);
  belong(accounts.lmdb, filling, true); // From here on it may be in the engine, so it must not count by itself.
  const records = encoded(accountsIn(accounts), new RecordCodec(key));
  return { records: await completeAdoption(connection, filling, uploaded, records), usage: uploaded };
}

function fillingOf({ engine, snapshot, entry, change }: Adoption): Filling {
  const first = { applied: { position: 1, id: entry }, place: { version: 1, id: change } };
  return { ...first, engine, idMeanwhile: engine, snapshot, streams: [], nodes: [] };
}

function newAdoption(engine: string, randomBytes: AdoptionDeps['randomBytes']): Adoption {
  return { engine, snapshot: randomUUID(), entry: newLogId(randomBytes), change: newLogId(randomBytes) };
}

/** Makes the accounts a copy of the engine's first version. */
function belong(lmdb: LmdbEnvironment, { engine, place }: Filling, adopting = false): void {
  const write = copyStateWriter(lmdb);
  const state: CopyState = {
    engine,
    version: place.version,
    change: place.id,
    tables: allTables,
    lossOpen: false,
  };
  transact(lmdb, () => write(adopting ? { ...state, adopting } : state));
}

/** @throws {AdoptionRefused} when the directory belongs to another engine, or was begun to be moved into another */
function checkState(
  copy: CopyState | undefined,
  begun: Adoption | undefined,
  found: string | undefined,
): void {
  const own = begun?.engine ?? copy?.engine;
  if (own === undefined || own === found) return;
  // Tables that were never made: an earlier attempt was interrupted before.
  if (found === undefined && copy === undefined) return;
  const other = found === undefined ? 'no engine' : `engine ${found}`;
  throw new AdoptionRefused(
    `Cannot move this directory: it belongs to engine ${own}, and the database holds ${other}; give the URL of the former. Nothing was changed`,
  );
}
