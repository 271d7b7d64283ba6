import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Write } from '../../accounts/store/account-store.ts';
import { isPresent } from '../../runtime/files.ts';
import { type AccountTables, type CopyState, copyStateWriter, readCopyState } from '../../storage/lmdb/accounts.ts';
import { openDigestSecret } from '../../storage/lmdb/instances.ts';
import { type LmdbEnvironment, transact } from '../../storage/lmdb/lmdb.ts';
import { allMessages } from '../../storage/lmdb/messages.ts';
import { openReplicaStore, type ReplicaStore } from '../../storage/lmdb/usage.ts';
import { newCopy } from '../accounts/copy.ts';
import { RecordCodec } from '../accounts/record-codec.ts';
import type { ReplicaSettings } from '../entry.ts';
import { type UploadResult, uploadParts } from '../log-upkeep.ts';
import { checkPlace, checkPostgres, idWhileFilled } from '../postgres/checks.ts';
import type { PostgresSession } from '../postgres/connection.ts';
import { type LogPosition, newLogId } from '../postgres/follower.ts';
import { type PostgresKey, storedSecret } from '../postgres/postgres-key.ts';
import { createTables } from '../postgres/schema.ts';
import type { Run } from '../postgres/session.ts';
import { CountedMessages, ReplicaState } from '../replica-state.ts';
import { ReplicaSnapshot } from '../snapshot.ts';
import { Spool } from '../spool.ts';
import { accountsIn, type DirectoryState, type Source } from './set-aside.ts';

interface AdoptionDeps extends FillingDeps {
  /** Data directory, locked, and not in use by a server. */
  readonly data: string;
  readonly accounts: AccountTables;
  readonly settings: ReplicaSettings;
  readonly randomBytes: (length: number) => Buffer;
}

/**
 * Moves the store of a single machine into an empty database, and turns its directory into the directory of a node. An
 * interrupted move resumes when this is called again. Until the upload is complete, a single machine can use the
 * directory. Afterwards, the directory belongs to the database, which takes over the store in one transaction.
 * @throws {AdoptionRefusal} the database or the directory is unsuitable; nothing was changed
 */
export async function adopt(deps: AdoptionDeps): Promise<AdoptionResult> {
  const { data, accounts, connection } = deps;
  const found = await findPostgresId(connection);
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
    const filling = createFillContent(adoption, spool.directory, secret);
    const content: Content = {
      parts() {
        addReplicaRows(usage, filling.applied.id, deps.settings);
        return new ReplicaSnapshot(usage).parts();
      },
      // From now on, the database can contain the store, so a single machine must not use the directory.
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

/** The ids of a move, stored before the move begins, so that it can resume. */
interface Adoption {
  readonly engine: string;
  /** Id of the snapshot with the usage. */
  readonly snapshot: string;
  /** Id of the last log entry that the snapshot includes. */
  readonly entry: string;
  /** Id of the first change of the accounts. */
  readonly change: string;
}

const adoptionKey = 'adoption';

/** Returns the unfinished move that a directory has stored; `undefined` if no move has begun. */
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
 * Adds rows to the usage, so that the store looks like a replica that has applied the first entry of a log. A server on
 * a single machine ignores these rows, so the directory can still be used as before.
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

function createFillContent(
  { engine, snapshot, entry, change }: Adoption,
  directory: string,
  secret: string,
): FillContent {
  const first = { applied: { position: 1, id: entry }, place: { version: 1, id: change } };
  return { ...first, engine, idMeanwhile: engine, snapshot, directory, secret, streams: [], nodes: [] };
}

function newAdoption(engine: string, randomBytes: AdoptionDeps['randomBytes']): Adoption {
  return { engine, snapshot: randomUUID(), entry: newLogId(randomBytes), change: newLogId(randomBytes) };
}

/** Records in the directory that its accounts equal the first version of the accounts in the database. */
function belong(lmdb: LmdbEnvironment, { engine, place }: FillContent, adopting = false): void {
  const write = copyStateWriter(lmdb);
  const state = newCopy(engine, { position: place.version, id: place.id });
  transact(lmdb, () => write(adopting ? { ...state, adopting } : state));
}

/** @throws {AdoptionRefusal} if the directory belongs to another database, or a move into another database has begun */
function checkState(copy: CopyState | undefined, begun: Adoption | undefined, found: string | undefined): void {
  const own = begun?.engine ?? copy?.engine;
  if (own === undefined || own === found) return;
  // Accepts an earlier attempt that was interrupted before it created the tables.
  if (found === undefined && copy === undefined) return;
  const other = found === undefined ? 'is empty' : `has the id ${found}`;
  throw new AdoptionRefusal(
    `Cannot move this directory: it belongs to the database with the id ${own}, and this one ${other}; give the URL of that database. Nothing was changed`,
  );
}

/** Thrown if the database must not take over this store. The message says why. */
export class AdoptionRefusal extends Error {
  override readonly name = 'AdoptionRefusal';
}

/** The result of a move. `records` and `usage` are absent if an earlier attempt moved them. */
export interface AdoptionResult {
  readonly engine: string;
  readonly records?: number;
  readonly usage?: UploadResult;
}

/** The content of the new database, except the snapshot's parts and the accounts. */
interface FillContent extends Pick<DirectoryState, 'engine' | 'place' | 'streams' | 'nodes'> {
  /** Id of the database until it is complete: see `idWhileFilled`. */
  readonly idMeanwhile: string;
  /** Id of the snapshot with the usage. */
  readonly snapshot: string;
  /** The last log entry that the snapshot includes. */
  readonly applied: LogPosition;
  readonly directory: string;
  /** HMAC key for the digests of instance ids, as stored: see `storedSecret`. */
  readonly secret: string;
}

interface FillingDeps {
  readonly connection: PostgresSession;
  readonly key: PostgresKey | undefined;
  /** True to accept that a failover can lose commits. */
  readonly allowAsynchronous?: boolean;
  readonly onPart: (uploaded: UploadResult) => void;
}

/** The content to upload. It is read after the database is reserved. */
interface Content {
  parts(): AsyncIterable<Buffer>;
  uploaded?(): void;
  accounts(): Iterable<Write>;
}

const recordsAStatement = 500;
/** Deadline of one transaction. Writing the accounts of a large installation takes some seconds. */
const deadlineMs = 600_000;

/** Returns the id of a database; `undefined` if it has no tables. */
async function findPostgresId(connection: PostgresSession): Promise<string | undefined> {
  const { rows } = await connection.query<{ found: string | null }>({
    text: "SELECT to_regclass('fm_engine')::text AS found",
  });
  if (rows[0]?.found == null) return undefined;
  return (await checkPostgres((statement) => connection.query(statement))).id;
}

/**
 * Fills a database. An interrupted fill resumes when this is called again.
 * @param hasTables true if an earlier attempt, or `postgres init`, has created the tables
 * @throws {AdoptionRefusal} the database is in use, or another directory is being moved into it
 */
async function fillPostgres(
  { connection, key, onPart }: FillingDeps,
  filling: FillContent,
  { parts, uploaded, accounts }: Content,
  hasTables: boolean,
): Promise<AdoptionResult> {
  const { engine, snapshot } = filling;
  if (await claim(connection, filling, hasTables)) return { engine };
  const usage = await uploadParts(connection, snapshot, parts(), onPart);
  await connection.query({
    text: 'DELETE FROM fm_snapshot_part WHERE snapshot = $1 AND part >= $2',
    values: [snapshot, usage.parts],
  });
  uploaded?.();
  const records = await complete(connection, filling, usage, accounts(), new RecordCodec(key));
  return { engine, records, usage };
}

/**
 * Reserves a database: creates missing tables, and the snapshot for the usage. The commit waits for the standby, and so
 * confirms the state that was read.
 * @returns true if the database already has the whole store
 */
function claim(
  connection: PostgresSession,
  { idMeanwhile, snapshot, applied, directory, secret }: FillContent,
  hasTables: boolean,
): Promise<boolean> {
  return connection.transaction(async (run) => {
    if (!hasTables) await createTables(run, { id: idMeanwhile, secret });
    await run({ text: "SELECT 1 FROM fm_head WHERE log = 'control' FOR UPDATE" });
    const { rowCount: whole } = await run({
      text: "UPDATE fm_snapshot SET bytes = bytes WHERE snapshot = $1 AND state = 'whole'",
      values: [snapshot],
    });
    if (whole > 0) return true;
    await checkUnused(run, snapshot);
    await run({ text: 'UPDATE fm_engine SET secret = $1', values: [secret] });
    await run({
      text: `INSERT INTO fm_snapshot (snapshot, position, id, state, directory) VALUES ($1, $2, $3, 'building', $4)
             ON CONFLICT (snapshot) DO UPDATE SET at = now(), position = excluded.position, id = excluded.id`,
      values: [snapshot, applied.position, applied.id, directory],
    });
    return false;
  });
}

/**
 * Checks that a database contains nothing but an unfinished move.
 * @param snapshot id of the snapshot of the move, if any
 * @throws {AdoptionRefusal}
 */
async function checkUnused(run: Run, snapshot = ''): Promise<void> {
  const { rows } = await run<{ what: string }>({
    text: `SELECT 'accounts' AS what FROM fm_head WHERE log = 'control' AND position > 0
      UNION ALL SELECT 'usage' FROM fm_head WHERE log = 'data' AND position > 0
      UNION ALL SELECT 'nodes' WHERE EXISTS (SELECT 1 FROM fm_node) OR EXISTS (SELECT 1 FROM fm_stream)
      UNION ALL SELECT 'a store that another directory has begun to move' WHERE EXISTS (
        SELECT 1 FROM fm_snapshot WHERE snapshot <> $1)`,
    values: [snapshot],
  });
  if (rows[0] === undefined) return;
  throw new AdoptionRefusal(
    `Cannot move a store into this database: it has ${rows[0].what}; use a separate database for each cluster. Nothing was changed`,
  );
}

/**
 * Adds the accounts, and starts the log with the uploaded usage. One transaction does both, so the database never has
 * only a part of the store.
 * @returns the number of records
 */
function complete(
  connection: PostgresSession,
  filling: FillContent,
  { bytes }: UploadResult,
  accounts: Iterable<Write>,
  codec: RecordCodec,
): Promise<number> {
  const { engine, snapshot, applied, place } = filling;
  return connection.transaction(async (run) => {
    await run({ text: 'SELECT 1 FROM fm_head ORDER BY log FOR UPDATE' });
    await checkUnused(run, snapshot);
    const count = await putRecords(run, accounts, codec);
    await putStreams(run, filling);
    const head = 'UPDATE fm_head SET position = $2, id = $3 WHERE log = $1';
    await run({ text: head, values: ['control', place.version, place.id] });
    await run({
      text: "INSERT INTO fm_change (version, id, writes) VALUES ($1, $2, '[]')",
      values: [place.version, place.id],
    });
    await run({ text: head, values: ['data', applied.position, applied.id] });
    await run({
      text: "INSERT INTO fm_entry (position, id, kind) SELECT $1::bigint, $2::bigint, 'settings' WHERE $1::bigint > 0",
      values: [applied.position, applied.id],
    });
    await run({
      text: "UPDATE fm_snapshot SET state = 'whole', at = now(), bytes = $2 WHERE snapshot = $1",
      values: [snapshot, bytes],
    });
    await run({ text: 'UPDATE fm_engine SET id = $1', values: [engine] });
    return count;
  }, deadlineMs);
}

async function putRecords(run: Run, accounts: Iterable<Write>, codec: RecordCodec): Promise<number> {
  const records = Array.from(accounts, (write) => codec.encode(write));
  for (let from = 0; from < records.length; from += recordsAStatement) {
    const some = records.slice(from, from + recordsAStatement);
    await run({
      text: `INSERT INTO fm_record ("table", key, value)
             SELECT * FROM unnest($1::text[], $2::text[], $3::text[])`,
      values: [some.map(({ table }) => table), some.map(({ key }) => key), some.map(({ value }) => value!)],
    });
  }
  return records.length;
}

/** Stores the streams with empty digests of their last deltas. Nodes then compare these deltas only by number. */
async function putStreams(run: Run, { streams, nodes }: FillContent): Promise<void> {
  await run({
    text: `INSERT INTO fm_stream (stream, directory, seq, through, since, version, state)
           SELECT * FROM json_to_recordset($1::json) AS held (
             stream text, directory text, seq bigint, through bigint, since bigint, version bigint, state text)`,
    values: [JSON.stringify(streams)],
  });
  await run({
    text: `INSERT INTO fm_node (directory, name, state, beat_at)
           SELECT directory, name, state, to_timestamp(coalesce(beat, 0) / 1000)
           FROM json_to_recordset($1::json) AS held (directory text, name text, state text, beat float8)`,
    values: [JSON.stringify(nodes)],
  });
}

interface FromReplicaDeps extends FillingDeps {
  readonly source: Source;
  readonly directory: string;
  /** The HMAC key for digests of instance ids in the old database. */
  readonly secret: Buffer;
}

/**
 * Fills an empty database with the content of a node, after the old database was lost. The new database has the id of
 * the old database, so all nodes continue. Nodes with fewer data load the content, and all nodes ship their later
 * deltas. An interrupted fill resumes when this is called again. Until the fill is finished, the database has another
 * id, which nodes refuse.
 * @throws {AdoptionRefusal} the database has other content; nothing was changed
 */
export async function adoptReplica(deps: FromReplicaDeps): Promise<AdoptionResult> {
  const { source, directory, connection, key } = deps;
  const { engine, applied } = source.holding;
  const idMeanwhile = idWhileFilled(engine);
  const snapshot = `replica-${directory}`;
  const found = await findPostgresId(connection);
  if (found === engine) {
    const { rows } = await connection.query<{ filled: boolean }>({
      text: `SELECT EXISTS (
               SELECT 1 FROM fm_snapshot WHERE snapshot = $3 AND state = 'whole' AND position = $1 AND id = $2
             ) AS filled FROM fm_entry WHERE position = $1 AND id = $2`,
      values: [applied.position, applied.id, snapshot],
    });
    if (rows[0]?.filled) return { engine }; // The response to an earlier attempt was lost.
    if (rows[0] !== undefined)
      throw new AdoptionRefusal(
        `Cannot fill this database: it already has all counts of this directory (id ${found}); start the nodes with it. Nothing was changed`,
      );
  }
  if (found !== undefined && found !== idMeanwhile)
    throw new AdoptionRefusal(
      `Cannot fill this database: it has other data of flagmeter (id ${found}); create an empty database, and give its URL to all nodes. Nothing was changed`,
    );
  if (found === undefined) await checkPlace(connection, deps.allowAsynchronous);
  const secret = storedSecret(deps.secret, key);
  const filling = { ...source.holding, idMeanwhile, snapshot, directory, secret };
  return fillPostgres(deps, filling, source, found !== undefined);
}
