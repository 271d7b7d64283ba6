import { join } from 'node:path';
import { beforeEach, expect } from 'vitest';
import { UsageError } from '../../src/cli/options.ts';
import { RecordCodec } from '../../src/replication/accounts/record-codec.ts';
import { readPostgresKey, readSecret } from '../../src/replication/postgres/postgres-key.ts';
import { connect } from '../accounts/store/postgres-fixture.ts';
import { needing } from '../support/needing.ts';
import { opened } from '../support/opened.ts';
import { Postgres } from '../support/postgres.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { runPostgres } from './postgres-fixture.ts';

const { describe, it } = needing('postgresql');

const postgres = opened(() => Postgres.start());
let url: string;
beforeEach(async () => {
  url = await postgres.database();
});

const init = (...key: string[]) =>
  runPostgres(['init', '--postgres', url, '--admin-email', 'admin@example.com', '--json', ...key]);

const records = () =>
  postgres.query<{ table: string; key: string; value: string }>('SELECT "table", key, value FROM fm_record', [], url);

async function keyFile(): Promise<string> {
  const file = join(temporaryDirectory(), 'key');
  await runPostgres(['key', '--out', file]);
  return file;
}

const encrypt = (...argv: string[]) => runPostgres(['encrypt', '--postgres', url, ...argv]);

describe('flagmeter postgres encrypt', () => {
  it('postgres encrypt encrypts the secrets of the accounts and of their history only once', async () => {
    await init('--without-key-file');
    const file = await keyFile();
    const changes = () =>
      postgres.query<{ version: string; id: string; writes: string }>('SELECT * FROM fm_change', [], url);
    const plain = await records();
    const [before] = await changes();
    const [{ secret } = { secret: '' }] = await postgres.query<{ secret: string }>(
      'SELECT secret FROM fm_engine',
      [],
      url,
    );
    const { out } = await encrypt('--postgres-key-file', file);
    expect(out).toMatch(/^Encrypted the secrets of 1 record\. Start each node with --postgres-key-file/);
    const dump = JSON.stringify([await records(), await changes()]);
    const d = /"d":"([^"]+)"/.exec(plain.find(({ table }) => table === 'signingKeys')!.value)![1]!;
    expect(dump).toContain('sealedJwk');
    expect(dump).not.toContain(d);
    const codec = new RecordCodec(readPostgresKey(file));
    const none = new RecordCodec(undefined);
    const byTable = (writes: readonly { table: string }[]) => writes.map(({ table }) => table).sort();
    const opened = codec.decodeRecords((await records()) as never);
    expect(opened).toEqual(expect.arrayContaining(none.decodeRecords(plain as never)));
    const [after] = await changes();
    expect(after).toMatchObject({ version: before!.version, id: before!.id });
    const decodeWrites = (from: RecordCodec, body: string) =>
      from.decodeChanges([{ position: 1, id: '', body }])[0]!.writes;
    expect(decodeWrites(codec, after!.writes)).toEqual(decodeWrites(none, before!.writes));
    expect(byTable(opened)).toEqual(byTable(plain));
    const [row] = await postgres.query<{ secret: string }>('SELECT secret FROM fm_engine', [], url);
    expect(readSecret(row!.secret, readPostgresKey(file)).toString('base64')).toBe(secret);
    expect((await encrypt('--postgres-key-file', file)).out).toContain('already encrypted');
    const formerly = ['encrypt-keys', '--postgres', url, '--postgres-key-file', file];
    expect((await runPostgres(formerly)).out).toContain('already encrypted');
    await expect(encrypt('--postgres-key-file', await keyFile())).rejects.toThrow('is not the key file');
  });

  it('postgres encrypt refuses to run without a key file, or while a node or its session exists', async () => {
    await init('--without-key-file');
    await expect(encrypt()).rejects.toThrow(UsageError);
    const file = ['--postgres-key-file', await keyFile()];
    await postgres.query(`INSERT INTO fm_node (directory, name) VALUES ('d1', 'north')`, [], url);
    const before = await records();
    await expect(encrypt(...file)).rejects.toThrow(/while nodes are running.*node north.*Nothing was changed/);
    await postgres.query(`UPDATE fm_node SET beat_at = now() - interval '11 s'`, [], url);
    const session = connect(url, 'flagmeter north log');
    await session.query({ text: 'SELECT 1' });
    await expect(encrypt(...file)).rejects.toThrow('session flagmeter north log');
    await session.close();
    expect(await records()).toEqual(before);
    await expect.poll(async () => await encrypt(...file).catch(String)).toMatchObject({ code: 0 });
  });
});

describe('flagmeter postgres status', () => {
  const status = async (...argv: string[]) =>
    JSON.parse((await runPostgres(['status', '--postgres', url, '--json', ...argv])).out);

  it('postgres status warns that secrets are stored in clear text, even if a key file is given', async () => {
    await init('--without-key-file');
    for (const given of [[], ['--postgres-key-file', await keyFile()]]) {
      const { engine, warnings } = await status(...given);
      expect(engine.encrypted).toBe(false);
      expect(warnings).toContainEqual(expect.stringMatching(/clear text.*flagmeter postgres encrypt/));
    }
  });

  it('postgres status checks that the key file belongs to the database', async () => {
    const right = await keyFile();
    const wrong = await keyFile();
    await init('--postgres-key-file', right);
    expect((await status('--postgres-key-file', right)).engine.encrypted).toBe(true);
    await expect(status('--postgres-key-file', wrong)).rejects.toThrow('is not the key file of this database');
  });
});
