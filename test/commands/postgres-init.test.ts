import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { UsageError } from '../../src/cli/options.ts';
import { RecordCodec } from '../../src/replication/accounts/record-codec.ts';
import { readPostgresKey, readSecret } from '../../src/replication/postgres/postgres-key.ts';
import { unpack } from '../fixtures/stores/unpack.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { primaryAndStandby } from '../support/postgres-pair.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { runPostgres } from './postgres-fixture.ts';

let postgres: Postgres;
let url: string;

const admin = ['--admin-email', 'admin@example.com'];
const init = (...argv: string[]) =>
  runPostgres([
    ...['init', '--postgres', url, ...admin, '--json', ...argv],
    ...(argv.includes('--postgres-key-file') ? [] : ['--without-key-file']),
  ]);

const records = () =>
  postgres.query<{ table: string; key: string; value: string }>('SELECT "table", key, value FROM fm_record', [], url);

async function keyFile(): Promise<string> {
  const file = join(temporaryDirectory(), 'key');
  await runPostgres(['key', '--out', file]);
  return file;
}

needing('postgresql').describe('flagmeter postgres init', () => {
  beforeAll(async () => {
    postgres = await Postgres.start();
    await postgres.query('CREATE ROLE guest LOGIN');
    await postgres.query(`CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
  });
  beforeEach(async () => {
    url = await postgres.database();
  });

  it('postgres init prints the credentials as init does, and stores them as the first change', async () => {
    const { code, out } = await init();
    expect(code).toBe(0);
    const made = JSON.parse(out);
    expect(Object.keys(made)).toEqual(['adminEmail', 'adminPassword', 'teamId', 'clientId', 'clientSecret']);
    const codec = new RecordCodec(undefined);
    const writes = codec.decodeRecords(await records());
    const user = writes.find((write) => write?.table === 'users')?.value as { email: string; passwordHash: string };
    expect(user.email).toBe('admin@example.com');
    expect(await verifyPassword(made.adminPassword, user.passwordHash)).toBe(true);
    expect(writes.map((write) => write?.table)).toEqual(
      expect.arrayContaining(['teams', 'apiKeys', 'signingKeys', 'numbers']),
    );
    const heads = await postgres.query<{ log: string; position: string; id: string }>('SELECT * FROM fm_head', [], url);
    const [change] = await postgres.query<{ version: string; id: string; writes: string }>(
      'SELECT * FROM fm_change',
      [],
      url,
    );
    expect(heads).toContainEqual({ log: 'control', position: '1', id: change?.id });
    const [first] = codec.decodeChanges([{ position: 1, id: '', body: change!.writes }]);
    expect(first?.writes).toHaveLength(writes.length);
    expect(out).not.toContain(JSON.stringify(writes));
  });

  it('postgres init reads the URL and the password from files', async () => {
    const files = { url: `${url}\n`, password: 'correct horse battery' };
    const argv = ['init', '--postgres-file', 'url', ...admin, '--admin-password-file', 'password', '--json'];
    argv.push('--without-key-file');
    const { out } = await runPostgres(argv, files);
    expect(JSON.parse(out).adminPassword).toBe('correct horse battery');
  });

  it('postgres init without --json prints the credentials as text', async () => {
    const { out } = await runPostgres(['init', ...admin, '--without-key-file'], {}, { FLAGMETER_POSTGRES: url });
    for (const label of ['Administrator ', 'Password ', 'Client id ', 'Client secret '])
      expect(out).toMatch(new RegExp(`^ {2}${label} +\\S+$`, 'm'));
  });

  it('postgres init encrypts secrets with a key file', async () => {
    const file = await keyFile();
    await init('--postgres-key-file', file);
    const signing = (await records()).find(({ table }) => table === 'signingKeys');
    expect(signing?.value).toContain('sealedJwk');
    expect(signing?.value).not.toContain('"d":');
    const [opened] = new RecordCodec(readPostgresKey(file)).decodeRecords([signing as never]);
    expect(opened?.value).toMatchObject({ privateJwk: { d: expect.any(String) } });
    const [row] = await postgres.query<{ secret: string }>('SELECT secret FROM fm_engine', [], url);
    expect(readSecret(row?.secret ?? '', readPostgresKey(file))).toHaveLength(32);
    expect(() => readSecret(row?.secret ?? '', undefined)).toThrow('--postgres-key-file');
  });

  it('postgres init requires a key file, or the option to store secrets in clear text', async () => {
    const to = ['--postgres', url];
    const data = join(temporaryDirectory(), 'data');
    unpack('layout-2', data);
    for (const argv of [
      ['init', ...to, ...admin],
      ['adopt', '--data', data, ...to],
    ]) {
      await expect(runPostgres(argv)).rejects.toThrow(UsageError);
      await expect(runPostgres(argv)).rejects.toThrow('without --postgres-key-file: create a key file');
      const both = [...argv, '--without-key-file', '--postgres-key-file', await keyFile()];
      await expect(runPostgres(both)).rejects.toThrow('--without-key-file with --postgres-key-file');
    }
    expect(await postgres.query(`SELECT 1 FROM pg_class WHERE relname LIKE 'fm%'`, [], url)).toEqual([]);
  });

  it('postgres init leaves an initialised database unchanged, even if two processes start simultaneously', async () => {
    const results = await Promise.allSettled([init(), init()]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const before = await records();
    await expect(init()).rejects.toThrow('already initialised; nothing was changed');
    expect(await records()).toEqual(before);
    expect(await postgres.query('SELECT version FROM fm_change', [], url)).toHaveLength(1);
  });

  it('postgres init refuses a role that may not create the views, and a database that has the views', async () => {
    const asGuest = ['--postgres', url.replace('postgres@', 'guest@')];
    const query = (text: string) => postgres.query(text, [], url);
    await query('GRANT CREATE ON SCHEMA public TO guest');
    await expect(init(...asGuest)).rejects.toThrow('CREATE SCHEMA flagmeter_reports AUTHORIZATION guest');
    await query('CREATE SCHEMA flagmeter_reports AUTHORIZATION guest');
    expect((await init(...asGuest)).code).toBe(0);
    await query('CREATE SCHEMA other');
    const inOther = ['--postgres', `${url}&options=-csearch_path%3Dother`];
    await expect(init(...inOther)).rejects.toThrow('has the views of another flagmeter cluster');
  });

  it('postgres init refuses asynchronous replication unless it is allowed', async () => {
    const pair = await primaryAndStandby();
    try {
      await pair.beAlone();
      const to = ['--postgres', await pair.database()];
      await expect(init(...to)).rejects.toThrow(/synchronous_standby_names is empty.*--allow-asynchronous/);
      pair.primary.set({ synchronous_standby_names: `'ANY 1 (standby_${pair.standby.port}, other)'` });
      await pair.primary.reload();
      await expect(init(...to)).rejects.toThrow('needs 1 of 2 standbys');
      const data = join(temporaryDirectory(), 'data');
      unpack('layout-2', data);
      const adopt = ['adopt', '--data', data, ...to, '--without-key-file'];
      await expect(runPostgres(adopt)).rejects.toThrow('--allow-asynchronous');
      expect((await init(...to, '--allow-asynchronous')).code).toBe(0);
      const { out } = await runPostgres(['status', ...to]);
      expect(out).toMatch(/^Warning: A failover can lose acknowledged accounts.*needs 1 of 2 standbys/m);
    } finally {
      await pair.close();
    }
  });

  it('postgres init refuses a primary whose standbys are not connected', async () => {
    const pair = await primaryAndStandby();
    try {
      const to = ['--postgres', await pair.database()];
      pair.primary.set({ synchronous_standby_names: "'missing'" });
      await pair.primary.reload();
      const refusal = 'Too few standbys of synchronous_standby_names (missing) are connected';
      await expect(init(...to)).rejects.toThrow(refusal);
      await expect(init(...to, '--allow-asynchronous')).rejects.toThrow(refusal);
    } finally {
      await pair.close();
    }
  });

  it('postgres init refuses invalid arguments, and writes nothing', async () => {
    const directory = temporaryDirectory();
    const open = join(directory, 'open');
    writeFileSync(open, `${'0'.repeat(64)}\n`);
    chmodSync(open, 0o644);
    const short = join(directory, 'short');
    writeFileSync(short, 'abc', { mode: 0o600 });
    const at = (change: (url: URL) => void) => {
      const changed = new URL(url);
      change(changed);
      return ['--postgres', changed.href];
    };
    const cases: [string[], string | RegExp][] = [
      [['--postgres', 'http://u:secret@h/d'], /postgres.*begin with postgres:\/\//],
      [['--postgres', 'postgres://u:secret@h:port/d'], 'has a port that is not a number'],
      [
        at((to) => {
          to.pathname = '/none';
        }),
        'has no database "none"',
      ],
      [
        at((to) => {
          to.pathname = '/latin';
        }),
        'The database has the encoding LATIN1',
      ],
      [
        at((to) => {
          to.port = '1';
        }),
        'no server listens there',
      ],
      [
        at((to) => {
          to.search = '?sslmode=require';
        }),
        'does not offer TLS',
      ],
      [
        at((to) => {
          to.search = '?sslmode=disable&options=-csearch_path%3Dnone';
        }),
        'names no existing schema',
      ],
      [
        at((to) => {
          to.username = 'guest';
        }),
        'The role guest may not create tables in the schema public: GRANT CREATE',
      ],
      [['--postgres-key-file', join(directory, 'none')], 'Cannot read --postgres-key-file'],
      [['--postgres-key-file', open], 'everyone can read it'],
      [['--postgres-key-file', short], 'must contain 32 random bytes'],
      [['--admin-email', 'nobody'], 'must be one address'],
    ];
    for (const [argv, message] of cases) {
      const refused = init(...argv);
      await expect(refused).rejects.toThrow(message);
      expect(await refused.catch(String)).not.toContain('secret');
    }
    const tables = await postgres.query(`SELECT 1 FROM pg_class WHERE relname LIKE 'fm%'`, [], url);
    expect(tables).toEqual([]);
    await expect(runPostgres(['init', ...admin])).rejects.toThrow(UsageError);
  });
});

it('postgres key creates a file that only its owner can read, and never replaces a file', async () => {
  const file = await keyFile();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, 'utf8');
  expect(Buffer.from(text, 'base64')).toHaveLength(32);
  await expect(runPostgres(['key', '--out', file])).rejects.toThrow('it already exists; name another file with --out');
  expect(readFileSync(file, 'utf8')).toBe(text);
  await expect(runPostgres(['key'])).rejects.toThrow(UsageError);
});

it('flagmeter postgres without a known subcommand lists the subcommands', async () => {
  await expect(runPostgres([])).rejects.toThrow('Cannot use postgres alone: use one of init');
  await expect(runPostgres(['ini'])).rejects.toThrow('nearest known one is postgres init');
});
