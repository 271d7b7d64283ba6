import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { AwsClient } from 'aws4fetch';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Bucket, bucketDestination, readCredentials, upload } from '../../src/storage/backup/bucket.ts';
import { listBackups, makeScheduled } from '../../src/storage/backup/make-scheduled.ts';
import { readBackup } from '../../src/storage/backup/read-backup.ts';
import { lockWritten } from '../../src/storage/lmdb/lock.ts';
import { filledDirectory, steady } from '../storage/backup/data-directory.ts';
import { binaryPath, prepare, type StartedProcess, startBinary, stop } from '../support/binary.ts';
import { runBinary } from '../support/run-binary.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { knownCredentials, startS3Server } from './s3-server.ts';
import { type ArrivedRequest, startSignatureCheck } from './signature-check.ts';

const credentials = knownCredentials;
const never = new AbortController().signal;

let server: StartedProcess;
let check: Awaited<ReturnType<typeof startSignatureCheck>>;
let endpoint = '';

beforeAll(async () => {
  server = await startS3Server('backups');
  check = await startSignatureCheck(server.http, { ...credentials, region: 'us-east-1' });
  endpoint = check.endpoint;
});

afterAll(async () => {
  check.close();
  await stop(server);
});

function bucketAt(address = endpoint, more: object = {}): Bucket {
  return new Bucket({
    name: 'backups',
    settings: { endpoint: address, region: 'us-east-1' },
    credentials,
    signal: new AbortController().signal,
    retriesMs: [],
    ...more,
  });
}

function credentialsFile(): string {
  const file = join(temporaryDirectory(), 'credentials');
  writeFileSync(file, '[default]\naws_access_key_id = S3RVER\naws_secret_access_key=S3RVER\n');
  return file;
}

/** Lists the keys that begin with a prefix. */
async function keysIn(bucket: Bucket, prefix: string): Promise<string[]> {
  return (await bucket.list(prefix)).map(({ key }) => key);
}

async function objectAt(key: string): Promise<Buffer> {
  const client = new AwsClient({ ...credentials, service: 's3', region: 'us-east-1' });
  const response = await client.fetch(`http://${server.http}/backups/${key}`);
  return Buffer.from(await response.arrayBuffer());
}

test('scheduled backups are uploaded to a bucket completely, and the oldest backups are removed', async () => {
  const data = filledDirectory();
  const settings = { endpoint, region: 'us-east-1', credentials: credentialsFile() };
  const destination = bucketDestination('s3://backups/of/shop', settings, data, never);
  for (const at of [1, 2, 3])
    await makeScheduled(destination, { data, keep: 2, keyFile: undefined, at: at * 1000 }, steady);
  const names = [2, 3].map((second) => `flagmeter-1970-01-01T00-00-0${second}Z.backup`);
  expect((await listBackups(destination)).map(({ name }) => name)).toEqual(names);
  const file = join(temporaryDirectory(), 'backup');
  writeFileSync(file, await objectAt(`of/shop/${names[1]}`));
  expect(await readBackup(file, {}, steady)).toMatchObject({ at: '1970-01-01T00:00:03.000Z' });
});

test('a large file is uploaded in parts', async () => {
  const file = join(temporaryDirectory(), 'large');
  const content = randomBytes(13 * 2 ** 20);
  writeFileSync(file, content);
  await upload(bucketAt(), 'large', file, 5 * 2 ** 20);
  expect((await objectAt('large')).equals(content)).toBe(true);
  expect(await keysIn(bucketAt(), 'lar')).toEqual(['large']);
});

test.each([
  ['another access key', { accessKeyId: 'unknown' }, 'us-east-1'],
  ['another secret', { secretAccessKey: 'a-secret' }, 'us-east-1'],
  ['another region', {}, 'eu-west-3'],
])(
  'a request to a bucket with %s is refused without a retry, and the error contains no credentials',
  async (_, wrong, region) => {
    const settings = { endpoint, region };
    const before = check.arrived.length;
    const wrongly = { credentials: { ...credentials, ...wrong }, settings, retriesMs: [1] };
    const refused = await bucketAt(endpoint, wrongly)
      .list('')
      .then(() => '', String);
    expect(refused).toBe(
      'Error: The bucket responded with 403 SignatureDoesNotMatch: the secret does not match the access key, or the region is wrong',
    );
    expect(check.arrived.length).toBe(before + 1);
  },
);

/** Starts a server that sends the given responses one after another. @returns its address and the number of requests */
async function answering(...answers: readonly ((response: ServerResponse) => void)[]) {
  let calls = 0;
  const server = createHttpServer((incoming, response) => {
    incoming.resume();
    answers[Math.min(calls, answers.length - 1)]!(response);
    calls += 1;
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((listening) => server.once('listening', listening));
  return { http: `127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls };
}

const formatKeys = (...keys: readonly string[]) =>
  keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('');

const names = [
  'plain',
  'of the shop/a b',
  'a+b/c&d=e',
  "it's (1)*!",
  'ünïcode/雪/👍',
  'what?x#y',
  '100%/%41',
  '~$@:,;_-.',
  '<tag>',
];

test.each(names)(
  'a request for the key %s has the signature that AWS expects, and reaches the bucket',
  async (name) => {
    const signing = { ...credentials, sessionToken: 'a+session/token==', region: 'eu-central-1' };
    const front = await startSignatureCheck(server.http, signing);
    onTestFinished(() => void front.close());
    const settings = { endpoint: `${front.endpoint}/`, region: signing.region };
    const bucket = bucketAt('', { settings, credentials: signing });
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, randomBytes(5 * 2 ** 20 + 1));
    const key = `names/${name}`;
    await upload(bucket, key, file, 5 * 2 ** 20);
    expect(await keysIn(bucket, key)).toEqual([key]);
    await bucket.remove(key);
    expect(await keysIn(bucket, key)).toEqual([]);
    const made = front.arrived.map(({ method }) => method).join(' ');
    expect(made).toBe('POST PUT PUT POST GET DELETE GET');
  },
);

test('a long list of keys is read in pages, and requests with page tokens are also signed', async () => {
  const { http } = await answering(
    (response) => response.end(`${formatKeys('a&amp;b')}<NextContinuationToken>x+/=&amp; y</NextContinuationToken>`),
    (response) => response.end(formatKeys('c&#38;&#x26;&lt;d')),
  );
  const front = await startSignatureCheck(http, { ...credentials, region: 'us-east-1' });
  onTestFinished(() => void front.close());
  expect(await keysIn(bucketAt(front.endpoint), 'of shop/')).toEqual(['a&b', 'c&&<d']);
  const queries = front.arrived.map(({ url }: ArrivedRequest) => url.split('?')[1]);
  expect(queries).toEqual([
    'list-type=2&prefix=of%20shop%2F',
    'list-type=2&prefix=of%20shop%2F&continuation-token=x%2B%2F%3D%26%20y',
  ]);
});

const error = (status: number, code: string) => (response: ServerResponse) =>
  void response.writeHead(status, { location: 'http://elsewhere.example/' }).end(`<Error><Code>${code}</Code></Error>`);
const elsewhere = ': the bucket is in another region or at another address';

test.each([
  ['fails', error(500, 'InternalError'), 3, 'The bucket responded with 500 InternalError'],
  ['is too busy', error(503, 'SlowDown'), 3, 'The bucket responded with 503 SlowDown'],
  ['has a different clock', error(403, 'RequestTimeTooSkewed'), 1, '403 RequestTimeTooSkewed: correct the clock'],
  ['is at another address', error(307, 'TemporaryRedirect'), 1, `responded with 307 TemporaryRedirect${elsewhere}`],
  ['has moved', error(301, 'PermanentRedirect'), 1, `responded with 301 PermanentRedirect${elsewhere}`],
  ['does not exist', error(404, 'NoSuchBucket'), 1, '404 NoSuchBucket: create the bucket first, or correct its name'],
  [
    'truncates its response',
    (response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 1000 }).write('<Key>');
      setImmediate(() => response.destroy());
    },
    3,
    'Cannot reach the bucket',
  ],
] as const)('the client reports the reason if a bucket %s', async (_, answer, tries, words) => {
  const { http, calls } = await answering(answer);
  await expect(bucketAt(`http://${http}`, { retriesMs: [1, 1] }).list('')).rejects.toThrow(words);
  expect(calls()).toBe(tries);
});

test('an upload in parts is aborted if the bucket refuses a part', async () => {
  const { http } = await answering(
    (response) => response.end('<UploadId>of+1/2=</UploadId>'),
    error(403, 'AccessDenied'),
    (response) => void response.writeHead(204).end(),
  );
  const front = await startSignatureCheck(http, { ...credentials, region: 'us-east-1' });
  onTestFinished(() => void front.close());
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, 'four');
  await expect(upload(bucketAt(front.endpoint), 'a key', file, 2)).rejects.toThrow('403 AccessDenied');
  expect(front.arrived.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'POST /backups/a%20key?uploads=',
    'PUT /backups/a%20key?partNumber=1&uploadId=of%2B1%2F2%3D',
    'DELETE /backups/a%20key?uploadId=of%2B1%2F2%3D',
  ]);
});

test('an interrupted upload in parts still sends the request that aborts the upload', async () => {
  const interrupted = new AbortController();
  const { http } = await answering(
    (response) => response.end('<UploadId>1</UploadId>'),
    () => interrupted.abort(),
    (response) => void response.writeHead(204).end(),
  );
  const front = await startSignatureCheck(http, { ...credentials, region: 'us-east-1' });
  onTestFinished(() => void front.close());
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, 'four');
  const bucket = bucketAt(front.endpoint, { signal: interrupted.signal });
  await expect(upload(bucket, 'key', file, 2)).rejects.toThrow('abort');
  expect(front.arrived.map(({ method }) => method)).toEqual(['POST', 'PUT', 'DELETE']);
});

test('an upload deletes the file of a killed upload, but not the file of a running upload', async () => {
  const data = filledDirectory();
  const other = join(data, 'backup.upload.1');
  const killed = join(data, 'backup.upload.2');
  for (const file of [other, killed]) writeFileSync(file, '');
  const lock = lockWritten(other);
  onTestFinished(() => closeSync(lock));
  const settings = { endpoint, region: 'us-east-1', credentials: credentialsFile() };
  const destination = bucketDestination('s3://backups/both', settings, data, never);
  await makeScheduled(destination, { data, keep: 1, keyFile: undefined, at: 1000 }, steady);
  expect(readdirSync(data).sort()).toEqual(['accounts', 'backup.upload.1', 'usage']);
});

test('a backup that the bucket refuses removes no older backup, and leaves no files behind', async () => {
  const data = filledDirectory();
  const stored = Array.from({ length: 5 }, (_, at) => `flagmeter-2026-01-0${at + 1}T00-00-00Z.backup`);
  const list = (response: ServerResponse) => void response.end(formatKeys(...stored));
  const { http, calls } = await answering(error(403, 'AccessDenied'), list);
  const settings = { endpoint: `http://${http}`, region: 'us-east-1', credentials: credentialsFile() };
  const destination = bucketDestination('s3://backups', settings, data, never);
  await expect(makeScheduled(destination, { data, keep: 1, keyFile: undefined, at: 1000 }, steady)).rejects.toThrow(
    '403 AccessDenied: these credentials do not permit listing, reading, writing and deleting there',
  );
  // The only request is the upload, so no other backup is removed.
  expect(calls()).toBe(1);
  expect(readdirSync(data).sort()).toEqual(['accounts', 'usage']);
});

test('a request times out if the bucket does not respond, and is retried after a brief failure', async () => {
  const hanging = createServer(() => {}).listen(0, '127.0.0.1');
  onTestFinished(() => void hanging.close());
  await new Promise((listening) => hanging.once('listening', listening));
  const address = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
  await expect(bucketAt(address, { timeoutMs: 50, retriesMs: [1] }).list('')).rejects.toThrow(
    'The bucket did not respond within 0.05 s',
  );

  const { http, calls } = await answering(
    (response) => void response.writeHead(503).end(),
    (response) => void response.writeHead(503).end(),
    (response) => void response.end(formatKeys('one')),
  );
  expect(await keysIn(bucketAt(`http://${http}`, { retriesMs: [1, 1] }), '')).toEqual(['one']);
  expect(calls()).toBe(3);
});

test('a request to a bucket is aborted when the service stops', async () => {
  const hanging = createServer(() => {}).listen(0, '127.0.0.1');
  onTestFinished(() => void hanging.close());
  await new Promise((listening) => hanging.once('listening', listening));
  const stopping = new AbortController();
  const address = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
  const asking = bucketAt(address, { signal: stopping.signal }).list('');
  hanging.once('connection', () => stopping.abort());
  await expect(asking).rejects.toThrow('abort');
});

test('the credentials of a bucket are read from a file or the environment, and missing credentials are reported', () => {
  const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'c' };
  expect(readCredentials(undefined, env)).toEqual({ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' });
  expect(readCredentials(credentialsFile(), {})).toEqual(credentials);
  expect(() => readCredentials(undefined, { AWS_ACCESS_KEY_ID: 'a' })).toThrow(
    'Cannot find the credentials of the bucket in the environment',
  );
  expect(() => readCredentials('/nowhere', {})).toThrow(
    'Cannot read the credentials of the bucket in /nowhere: no such file or directory',
  );
});

test('the executable uploads its scheduled backups to a bucket', async () => {
  const file = credentialsFile();
  const bucket = [
    '--backup-to',
    's3://backups/executable',
    '--backup-s3-endpoint',
    endpoint,
    '--backup-s3-credentials',
    file,
  ];
  const service = await startBinary({ args: ['--backup-every', '24h', ...bucket] });
  await expect.poll(() => keysIn(bucketAt(), 'executable/')).toHaveLength(1);
  const [key] = await keysIn(bucketAt(), 'executable/');
  const restored = join(temporaryDirectory(), 'backup');
  writeFileSync(restored, await objectAt(key!));
  expect(await runBinary(['verify', restored])).toMatchObject({ code: 0 });
  await expect.poll(() => service.stderr()).toContain('"msg":"backup completed"');
  expect(readdirSync(service.data).sort()).toEqual(['accounts', 'journal', 'usage']);
  await stop(service);
});

/** Options of the commands for the bucket of these tests. */
const bucketArgs = () => ['--backup-s3-endpoint', endpoint, '--backup-s3-credentials', credentialsFile()];

test('the commands back up to a bucket, list and verify its backups, and restore the latest or a named backup', async () => {
  const data = join(temporaryDirectory(), 'data');
  await prepare(data);
  const place = 's3://backups/by/hand';
  const made = await runBinary(['backup', '--data', data, '--to', `${place}/`, '--json', ...bucketArgs()]);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const { file, bytes } = JSON.parse(made.stdout) as { file: string; bytes: number };
  expect(file).toMatch(/^s3:\/\/backups\/by\/hand\/flagmeter-\d{4}[\dT-]+Z\.backup$/);
  expect(readdirSync(data).sort()).toEqual(['accounts', 'usage']);

  const listed = await runBinary(['backup', 'list', place, '--json', ...bucketArgs()]);
  const name = file.slice(place.length + 1);
  expect(JSON.parse(listed.stdout)).toEqual([{ at: expect.stringMatching(/Z$/), bytes, name }]);
  const table = await runBinary(['backup', 'list', place, ...bucketArgs()]);
  expect(table.stdout).toMatch(new RegExp(`^TIME +SIZE +NAME\n.* UTC +[\\d.]+ MiB +${name}\n$`));

  for (const each of [place, file]) {
    const { code, stdout } = await runBinary(['verify', each, ...bucketArgs()]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`${file}: complete, from flagmeter`) });
  }
  for (const args of [
    ['--from', place, '--latest'],
    ['--from', file],
  ]) {
    const target = join(temporaryDirectory(), 'restored');
    const { code, stderr } = await runBinary(['restore', ...args, '--data', target, ...bucketArgs()]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(file) });
    expect(await runBinary(['verify', '--data', target])).toMatchObject({ code: 0 });
  }
});

test('a command with a bucket names what is missing, and shows no secret from a malformed address', async () => {
  const target = join(temporaryDirectory(), 'target');
  const restore = (from: string, ...more: string[]) =>
    runBinary(['restore', '--from', from, '--data', target, ...bucketArgs(), ...more]);
  expect(await restore('s3://backups/empty')).toMatchObject({ code: 2, stderr: expect.stringContaining('--latest') });
  expect(await restore('s3://backups/empty', '--latest')).toMatchObject({
    code: 1,
    stderr: 'Cannot find a backup in s3://backups/empty: it has no files named flagmeter-TIME.backup\n',
  });
  const secret = await restore('s3://key:a-secret@backups/of', '--latest');
  expect(secret).toMatchObject({ code: 2, stderr: expect.stringMatching(/^Cannot use --from: must be a directory/) });
  expect(secret.stderr).not.toContain('a-secret');
  expect(await runBinary(['verify', 's3://backups/of'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Cannot find the credentials of the bucket in the environment'),
  });
});

test('an interrupted backup to a bucket leaves no file behind', async () => {
  const data = join(temporaryDirectory(), 'data');
  await prepare(data);
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const { http } = await answering(() => arrive());
  const args = ['--backup-s3-endpoint', `http://${http}`, '--backup-s3-credentials', credentialsFile()];
  const backup = spawn(binaryPath, ['backup', '--data', data, '--to', 's3://backups', ...args]);
  const ended = Promise.all([text(backup.stderr), once(backup, 'exit')]);
  await arrived;
  expect(readdirSync(data)).toContain(`backup.upload.${backup.pid}`);
  backup.kill('SIGINT');
  expect(await ended).toEqual(['Interrupted: the bucket has no part of the backup\n', [130, null]]);
  expect(readdirSync(data).sort()).toEqual(['accounts', 'usage']);
});
