import { randomBytes } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  createApplication,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { runBinary } from '../support/run-binary.ts';
import { secretsIn } from '../support/secrets-in.ts';

const secrets = new Map<string, string>();

function note(name: string, secret = randomBytes(24).toString('hex')): string {
  secrets.set(`${name} (${secrets.size})`, secret);
  return secret;
}

function secretFile(text: string): string {
  const file = join(freshDirectory(), 'secret');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/** Starts a server with secrets in its settings and its store, and returns the file with its settings. */
async function openServer() {
  const data = join(freshDirectory(), 'data');
  const credentials = await prepare(data);
  const s3 = `aws_access_key_id = ${note('the bucket key id')}\naws_secret_access_key = ${note('the bucket key')}\n`;
  const settings = {
    data,
    backupEvery: '24h',
    backupTo: 's3://bucket/shop',
    backupS3Endpoint: 'http://127.0.0.1:1',
    backupS3Credentials: secretFile(s3),
    backupKeyFile: secretFile(note('the backup key')),
    otlpEndpoint: 'http://127.0.0.1:1',
    otlpHeadersFile: secretFile(`authorization: Bearer ${note('the header for the collector')}\n`),
  };
  const config = join(freshDirectory(), 'flagmeter.json');
  writeFileSync(config, JSON.stringify(settings));
  const service = await startBinary({ data, args: ['--config', config, '--ops-listen', '127.0.0.1:0'] });
  const access = note('an access token', await token(service.http, credentials));
  const application = await createApplication(service.http, access, { name: 'Shop' });
  note('a Backend key', (await createKey(service.http, access, application, 'Backend')).key);
  const invited = await manage(service.http, access, 'POST', '/api/v2/users', 201, {
    name: 'Ada',
    email: 'ada@example.com',
  });
  for (const [name, secret] of [...secretsIn(invited), ...secretsIn(credentials)]) note(name, secret);
  return { data, config, credentials, service, ops: /\bops=(\S+)/.exec(service.line)![1]! };
}

function findSecrets(text: string): string[] {
  return [...secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => name);
}

test('flagmeter support describes a running server without showing any secret of the server', async () => {
  const { data, config, credentials, service, ops } = await openServer();
  // The log of a first start contains the credentials, which are not lines of the log.
  const first = `The password is ${credentials.adminPassword}\n${JSON.stringify(credentials)}\n`;
  const log = join(freshDirectory(), 'log');
  writeFileSync(log, first + service.stderr());
  const env = { AWS_SECRET_ACCESS_KEY: note('a variable'), FLAGMETER_CLIENT_SECRET: credentials.clientSecret };
  const args = ['support', '--config', config, '--url', `http://${ops}`, '--log', log];
  const { code, stdout, stderr } = await runBinary([...args, '--out', '-'], env);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^== version ==\nflagmeter \d/);
  expect(stdout).toContain('\nbackup-to = s3://bucket/shop\nbackup-keep = 7\nbackup-key-file = (a file)\n');
  expect(stdout).toMatch(new RegExp(`MiB  ${data}/accounts/data\\.mdb\n`));
  expect(stdout).toContain(`/healthz: 200`);
  expect(stdout).toContain('\nflagmeter_ready 1\n');
  expect(stdout).toContain('(2 other lines left out)\n{"time":');
  expect(stderr).toMatch(
    /^SECTION +SIZE +CONTENTS\nversion .*\nsettings .*\nfiles .*\nhealth .*\nmetrics .*\nlog .*\n$/,
  );
  expect(secrets.size).toBeGreaterThan(8);
  expect(findSecrets(stdout + stderr)).toEqual([]);
  await stop(service);
});

test('flagmeter support writes a new file that only its owner can read, and replaces no file', async () => {
  const data = join(freshDirectory(), 'data');
  await prepare(data);
  const out = join(freshDirectory(), 'support.txt');
  const args = ['support', '--data', data, '--out', out];
  const { stdout } = await runBinary([...args, '--json'], { FLAGMETER_LISTEN: '127.0.0.1:1' });
  const { file, sections } = JSON.parse(stdout) as { file: string; sections: { name: string }[] };
  expect(file).toBe(out);
  expect(sections.map(({ name }) => name)).toEqual(['version', 'settings', 'files', 'health', 'metrics', 'log']);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  expect(await runBinary(args)).toMatchObject({
    code: 1,
    stderr: `Cannot write ${out}: it already exists; name another file with --out\n`,
  });
});

test('flagmeter support describes wrong settings and the PostgreSQL address without their secrets', async () => {
  const password = note('the password of PostgreSQL');
  const env = { FLAGMETER_POSTGRES: `postgres://flagmeter:${password}@db1/flagmeter` };
  const right = await runBinary(['support', '--out', '-'], env);
  expect(right.stdout).toContain('\npostgres = postgres://flagmeter@db1:5432/flagmeter\n');
  const wrong = await runBinary(['support', '--out', '-'], { ...env, FLAGMETER_POSTGRES_FILE: password });
  expect(wrong.stdout).toContain('== settings ==\nCannot use --postgres-file');
  expect(wrong.code).toBe(0);
  const endpoint = { FLAGMETER_OTLP_ENDPOINT: `https://o.example/v1?key=${password}` };
  const query = await runBinary(['support', '--out', '-'], endpoint);
  expect(query.stdout + query.stderr).toContain('https://o.example/v1?…');
  const all = [right, wrong, query].map(({ stdout, stderr }) => stdout + stderr).join('');
  expect(findSecrets(all)).toEqual([]);
});
