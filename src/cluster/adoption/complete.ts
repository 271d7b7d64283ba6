import { isOwn } from '../../engine/copy.ts';
import type { Write } from '../../engine/engine.ts';
import type { RecordCodec, StoredRecord } from '../../engine/record-codec.ts';
import type { EngineSession } from '../../postgres/connection.ts';
import type { Run } from '../../postgres/statement.ts';
import { type AccountStore, accountTables } from '../../store/accounts.ts';
import { checkUnused } from './claim.ts';
import type { Filling } from './filling.ts';
import type { Uploaded } from './upload.ts';

const recordsAStatement = 500;
/** Accounts of a large installation take some seconds. */
const deadlineMs = 600_000;

/**
 * Brings the accounts into the engine, and says that its log begins with the usage that was uploaded: all in one transaction, so
 * that an engine has nothing of a store or all of it.
 * @returns how many records
 * @throws {AdoptionRefused} when something else has come into the engine meanwhile
 */
export function completeAdoption(
  connection: EngineSession,
  filling: Filling,
  { bytes }: Uploaded,
  records: Iterable<StoredRecord>,
): Promise<number> {
  const { engine, snapshot, applied, place } = filling;
  return connection.transaction(async (run) => {
    await run({ text: 'SELECT 1 FROM fm_head ORDER BY log FOR UPDATE' });
    await checkUnused(run, snapshot);
    const count = await putRecords(run, records);
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

/** The accounts of a node or of a single machine, without what belongs to the file. */
export function* accountsIn(accounts: AccountStore): Generator<Write> {
  for (const table of accountTables)
    for (const { key, value } of accounts[table].getRange())
      if (!isOwn(table, key)) yield { table, key, value } as Write;
}

/** As the engine holds them. */
export function* encoded(writes: Iterable<Write>, codec: RecordCodec): Generator<StoredRecord> {
  for (const write of writes) yield codec.encode(write);
}

async function putRecords(run: Run, records: Iterable<StoredRecord>): Promise<number> {
  let count = 0;
  let waiting: StoredRecord[] = [];
  const put = async () => {
    await run({
      text: `INSERT INTO fm_record ("table", key, value)
             SELECT * FROM unnest($1::text[], $2::text[], $3::text[])`,
      values: [
        waiting.map(({ table }) => table),
        waiting.map(({ key }) => key),
        waiting.map(({ value }) => value!),
      ],
    });
    count += waiting.length;
    waiting = [];
  };
  for (const record of records) {
    waiting.push(record);
    if (waiting.length === recordsAStatement) await put();
  }
  if (waiting.length > 0) await put();
  return count;
}

/** The digests of the last deltas are not known: a stream whose digest is empty is known by its number alone. */
async function putStreams(run: Run, { streams, nodes }: Filling): Promise<void> {
  await run({
    text: `INSERT INTO fm_stream (stream, directory, seq, through, since, version, state)
           SELECT * FROM json_to_recordset($1::json) AS held (
             stream text, directory text, seq bigint, through bigint, since bigint, version bigint, state text)`,
    values: [JSON.stringify(streams)],
  });
  await run({
    text: `INSERT INTO fm_node (directory, name, state, beat_at)
           SELECT directory, name, state, now() - interval '1 hour'
           FROM json_to_recordset($1::json) AS held (directory text, name text, state text)`,
    values: [JSON.stringify(nodes)],
  });
}
