import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type SecurePostgres, securePostgres } from '../support/postgres-certificates.ts';
import { runBinary } from '../support/run-binary.ts';

const { it } = needing('openssl', 'postgresql');

let server: SecurePostgres;
beforeAll(async () => {
  server = await securePostgres('hostssl all flagmeter all scram-sha-256\n');
  await server.postgres.query(`CREATE ROLE flagmeter LOGIN PASSWORD 'right horse'`);
  await server.postgres.query('CREATE DATABASE flagmeter OWNER flagmeter');
});
afterAll(() => server.close());

const url = (password: string, root: string, host = 'localhost') =>
  `postgres://flagmeter:${password}@127.0.0.1:1,${host}:${server.postgres.port}/flagmeter?sslrootcert=${server.file(root)}`;

it('the executable connects to PostgreSQL with TLS and a password, and reports configuration errors', async () => {
  const key = join(freshDirectory(), 'key');
  const postgres = (command: string, to: string, ...more: string[]) =>
    runBinary(['postgres', command, ...more], { FLAGMETER_POSTGRES: to });
  const right = url('right%20horse', 'root.pem');
  const init = ['--postgres-key-file', key, '--admin-email', 'a@example.com', '--json'];
  expect(await postgres('key', '', '--out', key)).toMatchObject({ code: 0 });
  for (const [to, message] of [
    [url('wrong', 'root.pem'), 'rejects the password of user "flagmeter" (SQLSTATE 28P01)'],
    [url('right%20horse', 'other.pem'), 'its certificate is not signed by a trusted root'],
    [url('right%20horse', 'root.pem', '127.0.0.1'), 'its certificate is for another name'],
  ] as const) {
    const { code, stdout, stderr } = await postgres('init', to, ...init);
    expect([code, stdout]).toEqual([1, '']);
    expect(JSON.parse(stderr).error).toContain(message);
    expect(stderr).toContain('127.0.0.1:1 refused the connection');
    expect(stderr).not.toMatch(/wrong|horse/);
  }
  expect((await postgres('status', right)).stderr).toContain('run flagmeter postgres init first');
  const made = await postgres('init', right, ...init);
  expect([made.code, made.stderr]).toEqual([0, '']);
  expect(JSON.parse(made.stdout)).toMatchObject({ adminEmail: 'a@example.com' });
  expect(await postgres('init', right, ...init)).toMatchObject({ code: 1, stdout: '' });
  const status = await postgres('status', right, '--json');
  expect(JSON.parse(status.stdout)).toMatchObject({
    host: `localhost:${server.postgres.port}`,
    heads: { control: 1, data: 0 },
    engine: { encrypted: true },
  });
});
