import { isOwn } from '../../engine/copy.ts';
import type { Write } from '../../engine/engine.ts';
import type { RecordCodec, StoredRecord } from '../../engine/record-codec.ts';
import type { Connection } from '../../postgres/connection.ts';
import type { Run } from '../../postgres/statement.ts';
import { type AccountStore, accountTables } from '../../store/accounts.ts';
import type { Adoption } from './adoption.ts';
import { checkUnused } from './claim.ts';
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
  connection: Pick<Connection, 'transaction'>,
  { snapshot, entry, change }: Adoption,
  { bytes }: Uploaded,
  records: () => Iterable<StoredRecord>,
): Promise<number> {
  return connection.transaction(async (run) => {
    await run({ text: 'SELECT 1 FROM fm_head ORDER BY log FOR UPDATE' });
    await checkUnused(run, snapshot);
    const count = await putRecords(run, records());
    await run({ text: "UPDATE fm_head SET position = 1, id = $1 WHERE log = 'control'", values: [change] });
    await run({
      text: "INSERT INTO fm_change (version, id, writes) VALUES (1, $1, '[]')",
      values: [change],
    });
    await run({ text: "UPDATE fm_head SET position = 1, id = $1 WHERE log = 'data'", values: [entry] });
    await run({
      text: "INSERT INTO fm_entry (position, id, kind) VALUES (1, $1, 'settings')",
      values: [entry],
    });
    await run({
      text: "UPDATE fm_snapshot SET state = 'whole', at = now(), bytes = $2 WHERE snapshot = $1",
      values: [snapshot, bytes],
    });
    return count;
  }, deadlineMs);
}

/** The accounts as the engine holds them. */
export function* recordsOf(accounts: AccountStore, codec: RecordCodec): Generator<StoredRecord> {
  for (const table of accountTables)
    for (const { key, value } of accounts[table].getRange())
      if (!isOwn(table, key)) yield codec.encode({ table, key, value } as Write);
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
