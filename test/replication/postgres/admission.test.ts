import { afterAll, beforeAll, expect } from 'vitest';
import type { PostgresError } from '../../../src/replication/postgres/postgres-error.ts';
import { needing } from '../../support/needing.ts';
import { Postgres } from '../../support/postgres.ts';
import { type SecurePostgres, securePostgres } from '../../support/postgres-certificates.ts';
import { connect } from './fixture.ts';

const { describe, it } = needing('openssl', 'postgresql');

let secure: SecurePostgres;
let postgres: Postgres;
beforeAll(async () => {
  secure = await securePostgres(`
hostssl all secure   all scram-sha-256
hostssl all shown    all cert
host    all plain,full all scram-sha-256
`);
  postgres = secure.postgres;
  for (const role of ['secure', 'plain', 'shown'])
    await postgres.query(`CREATE ROLE ${role} LOGIN PASSWORD 'right horse'`);
  await postgres.query(`CREATE ROLE full LOGIN PASSWORD 'right horse' CONNECTION LIMIT 0`);
});
afterAll(() => secure.close());

const at = (name: string) => secure.file(name);

const url = (user: string, parameters: string, host = 'localhost', database = 'postgres') =>
  `postgres://${user}@${host}:${postgres.port}/${database}?${parameters}`;

/** Returns the encryption of the session, or the error. */
async function said(text: string): Promise<string> {
  const connection = connect(text);
  const statement = { text: 'SELECT ssl, current_user AS user FROM pg_stat_ssl WHERE pid = pg_backend_pid()' };
  try {
    const { rows } = await connection.query<{ ssl: boolean; user: string }>(statement);
    return `${rows[0]?.user} ${rows[0]?.ssl ? 'encrypted' : 'plain'}`;
  } catch (error) {
    expect((error as Error).message).not.toMatch(/horse|wrong/);
    return `${(error as PostgresError).code}: ${(error as Error).message}`;
  }
}

const right = 'right%20horse';

describe('TLS', () => {
  it.each([
    ['sslrootcert names the root', () => `sslrootcert=${at('root.pem')}`, 'localhost'],
    ['sslmode ignores the host name', () => `sslmode=verify-ca&sslrootcert=${at('root.pem')}`, '127.0.0.1'],
    ['sslmode does not verify the server', () => 'sslmode=require', '127.0.0.1'],
  ])('a session is encrypted if %s', async (_, parameters, host) => {
    expect(await said(url(`secure:${right}`, parameters(), host))).toBe('secure encrypted');
  });

  it.each([
    ['is signed by another root', () => `sslrootcert=${at('other.pem')}`, 'localhost', 'not signed by a trusted root'],
    ['names another host', () => `sslrootcert=${at('root.pem')}`, '127.0.0.1', 'its certificate is for another name'],
    ['has an untrusted root', () => 'sslmode=verify-full', 'localhost', 'not signed by a trusted root'],
    ['cannot be verified without the root file', () => 'sslrootcert=/none.pem', 'localhost', '/none.pem (ENOENT)'],
    [
      'cannot be verified with a root file that has no certificate',
      () => `sslrootcert=${at('client.key')}`,
      'localhost',
      'The sslrootcert file of the PostgreSQL URL contains no certificate in PEM form: ',
    ],
  ])('a session is refused if the certificate of the server %s', async (_, parameters, host, why) => {
    expect(await said(url(`secure:${right}`, parameters(), host))).toContain(why);
  });

  it('a session fails if it requires TLS and the server does not offer TLS', async () => {
    expect(await said(url(`plain:${right}`, 'sslmode=disable'))).toBe('plain plain');
    expect(await said(url(`secure:${right}`, 'sslmode=disable'))).toContain('(SQLSTATE 28000)');
    const bare = await Postgres.start();
    try {
      expect(await said(bare.url('postgres', 'sslmode=require'))).toContain('does not offer TLS');
    } finally {
      await bare.close();
    }
  });

  it('a client certificate identifies the client to the server', async () => {
    const root = `sslrootcert=${at('root.pem')}`;
    const own = `${root}&sslcert=${at('client.pem')}&sslkey=${at('client.key')}`;
    expect(await said(url('shown', own))).toBe('shown encrypted');
    expect(await said(url('shown', root))).toContain('(SQLSTATE 28000)');
  });

  it.each([
    ['of another root', 'other.pem', 'other.key', 'refused: .* rejects the certificate of sslcert'],
    [
      'and the key of another certificate',
      'client.pem',
      'other.key',
      'refused: .*sslkey file .* does not contain the key',
    ],
    ['whose file contains a key', 'client.key', 'client.key', 'refused: .*sslcert file .* contains no certificate'],
  ])('a session is refused with a client certificate %s', async (_, certificate, key, why) => {
    const files = `sslrootcert=${at('root.pem')}&sslcert=${at(certificate)}&sslkey=${at(key)}`;
    expect(await said(url('shown', files))).toMatch(new RegExp(why));
  });
});

describe('a configuration error', () => {
  it.each([
    ['password', () => url('plain:wrong', 'sslmode=disable'), 'rejects the password of user "plain" (SQLSTATE 28P01)'],
    [
      'missing password',
      () => url('plain', 'sslmode=disable'),
      'requires a password for user "plain", but the URL has none',
    ],
    ['unknown user', () => url(`nobody:${right}`, 'sslmode=disable'), 'rejects user "nobody" (SQLSTATE 28000)'],
    [
      'missing database',
      () => url('postgres', 'sslmode=disable', 'localhost', 'none'),
      'has no database "none" (SQLSTATE 3D000): create it',
    ],
    ['unknown option', () => url('postgres', 'sslmode=disable&options=-c%20no_such%3D1'), 'rejects the options'],
    [
      'limit of sessions',
      () => url(`full:${right}`, 'sslmode=disable'),
      'a node opens up to five connections; raise max_connections, or the limit of the role',
    ],
    ['port', () => 'postgres://u:wrong@127.0.0.1:1/d', 'refused the connection: no server listens there'],
    ['host', () => 'postgres://u:wrong@no.such.host.invalid/d?sslmode=disable', 'cannot be resolved'],
  ])('the error of a failed session reports the %s as the cause', async (what, text, why) => {
    const response = await said(text());
    expect(response).toContain(why);
    // These three errors can disappear on their own, for example when a server starts. An administrator must fix all
    // other errors.
    expect(response).toMatch(['limit of sessions', 'port', 'host'].includes(what) ? /^unreachable: / : /^refused: /);
  });
});
