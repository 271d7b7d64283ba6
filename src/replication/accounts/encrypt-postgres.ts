import { checkNotBeingFilled, checkPostgres } from '../postgres/checks.ts';
import type { Connection } from '../postgres/connection.ts';
import { PostgresSetupError } from '../postgres/postgres-error.ts';
import { isSealed, type PostgresKey, readSecret, storedSecret } from '../postgres/postgres-key.ts';
import { silentAfterMs } from '../postgres/postgres-report.ts';
import type { Run } from '../postgres/session.ts';
import { RecordCodec, type StoredRecord, secretTables } from './record-codec.ts';

/**
 * Encrypts the secrets of a database that has no key file, in one transaction. Ids and versions stay the same, so nodes
 * continue from their copies of the accounts.
 * @returns number of records with encrypted secrets; `undefined` if the database already has this key file
 * @throws {PostgresSetupError} if the database has another key file, or if a node is running, because the node could
 * not read encrypted secrets; nothing was changed
 */
export function encryptPostgres(connection: Connection, key: PostgresKey): Promise<number | undefined> {
  return connection.transaction(async (run) => {
    const { id, secret } = await checkPostgres(run);
    checkNotBeingFilled(id);
    await run({ text: `SELECT 1 FROM fm_head WHERE log = 'control' FOR UPDATE` });
    if (isSealed(secret)) {
      readSecret(secret, key);
      return undefined;
    }
    await checkStopped(run);
    const codec = new RecordCodec(key);
    const { rows: records } = await run<StoredRecord>({
      text: 'SELECT "table", key, value FROM fm_record WHERE "table" = ANY ($1)',
      values: [secretTables],
    });
    const sealed = records.map((record) => codec.sealRecord(record));
    await run({
      text: `UPDATE fm_record AS r SET value = w.v FROM unnest($1::text[], $2::text[], $3::text[]) AS w(t, k, v)
        WHERE r."table" = w.t AND r.key = w.k`,
      values: [sealed.map(({ table }) => table), sealed.map((each) => each.key), sealed.map(({ value }) => value)],
    });
    const { rows: changes } = await run<{ version: string; writes: string }>({
      text: 'SELECT version::text, writes FROM fm_change WHERE writes ~ $1',
      values: [`\\["(${secretTables.join('|')})",`],
    });
    await run({
      text: `UPDATE fm_change AS c SET writes = w.writes FROM unnest($1::bigint[], $2::text[]) AS w(version, writes)
        WHERE c.version = w.version`,
      values: [changes.map(({ version }) => version), changes.map(({ writes }) => codec.sealChange(writes))],
    });
    await run({ text: 'UPDATE fm_engine SET secret = $1', values: [storedSecret(readSecret(secret, undefined), key)] });
    return sealed.length;
  });
}

/** @throws {PostgresSetupError} if a node is running. A frozen node, whose sessions are open, counts as running */
async function checkStopped(run: Run): Promise<void> {
  const { rows } = await run<{ name: string }>({
    text: `SELECT 'node ' || name AS name FROM fm_node WHERE state = 'up' AND beat_at >= clock_timestamp() - $1 * interval '1 ms'
      UNION SELECT 'session ' || application_name FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'flagmeter %' ORDER BY name`,
    values: [silentAfterMs],
  });
  if (rows.length === 0) return;
  const running = rows.map(({ name }) => name).join(', ');
  throw new PostgresSetupError(
    `Cannot encrypt the secrets while nodes are running (${running}), because the nodes could not read them: stop all nodes, run this command again, and start each node with --postgres-key-file. A node that crashed counts as running for ${silentAfterMs / 1000} seconds. Nothing was changed`,
  );
}
