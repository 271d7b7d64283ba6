import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { AwsClient, AwsV4Signer } from 'aws4fetch';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Bucket } from '../../src/backup/bucket.ts';
import { readCredentials } from '../../src/backup/bucket-credentials.ts';
import { bucketDestination, upload } from '../../src/backup/bucket-destination.ts';
import { makeScheduled } from '../../src/backup/make-scheduled.ts';
import { readBackup } from '../../src/backup/read-backup.ts';
import { filledDirectory, steady } from '../backup/data-directory.ts';
import { cleanUp, type Started, startBinary, stop } from '../support/binary.ts';
import { runBinary } from '../support/run-binary.ts';
import { knownCredentials, startS3Server } from '../support/s3-server.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const credentials = knownCredentials;
const never = new AbortController().signal;

let server: Started;
let endpoint = '';

beforeAll(async () => {
  server = await startS3Server('backups');
  endpoint = `http://${server.http}`;
});

afterAll(async () => {
  await stop(server);
  cleanUp();
});

function bucketAt(address = endpoint, more: object = {}): Bucket {
  return new Bucket({
    name: 'backups',
    settings: { endpoint: address, region: 'us-east-1' },
    credentials,
    signal: never,
    retriesMs: [],
    ...more,
  });
}

function credentialsFile(): string {
  const file = join(temporaryDirectory(), 'credentials');
  writeFileSync(file, '[default]\naws_access_key_id = S3RVER\naws_secret_access_key=S3RVER\n');
  return file;
}

async function objectAt(key: string): Promise<Buffer> {
  const client = new AwsClient({ ...credentials, service: 's3', region: 'us-east-1' });
  const response = await client.fetch(`${endpoint}/backups/${key}`);
  return Buffer.from(await response.arrayBuffer());
}

test('scheduled backups go to a bucket whole, and the oldest are removed', async () => {
  const data = filledDirectory();
  const settings = { endpoint, region: 'us-east-1', credentials: credentialsFile() };
  const destination = bucketDestination('s3://backups/of/shop', settings, data, never);
  for (const at of [1, 2, 3]) await makeScheduled(destination, { data, keep: 2, at: at * 1000 }, steady);
  const names = [2, 3].map((second) => `flagmeter-1970-01-01T00-00-0${second}Z.backup`);
  expect([...(await destination.names())].sort()).toEqual(names);
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
  expect(await bucketAt().keys('lar')).toEqual(['large']);
});

test('wrong credentials are refused at once, and shown nowhere', async () => {
  const wrong = bucketAt(endpoint, { credentials: { accessKeyId: 'unknown', secretAccessKey: 'a-secret' } });
  const refused = await wrong.keys('').then(() => '', String);
  expect(refused).toMatch(/^Error: The bucket answers 403 InvalidAccessKeyId$/);
});

test('a bucket that hangs is given up, and one that fails for a moment is not', async () => {
  const hanging = createServer(() => {}).listen(0, '127.0.0.1');
  onTestFinished(() => void hanging.close());
  await new Promise((listening) => hanging.once('listening', listening));
  const address = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
  await expect(bucketAt(address, { timeoutMs: 50, retriesMs: [1] }).keys('')).rejects.toThrow(
    'The bucket does not answer within 0.05 s',
  );

  let calls = 0;
  const failing = createHttpServer((_, response) => {
    calls += 1;
    response.writeHead(calls < 3 ? 503 : 200).end('<ListBucketResult><Key>one</Key></ListBucketResult>');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void failing.close());
  await new Promise((listening) => failing.once('listening', listening));
  const other = `http://127.0.0.1:${(failing.address() as AddressInfo).port}`;
  expect(await bucketAt(other, { retriesMs: [1, 1] }).keys('')).toEqual(['one']);
  expect(calls).toBe(3);
});

test('an upload is ended when the service stops', async () => {
  const hanging = createServer(() => {}).listen(0, '127.0.0.1');
  onTestFinished(() => void hanging.close());
  await new Promise((listening) => hanging.once('listening', listening));
  const stopping = new AbortController();
  const address = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
  const asking = bucketAt(address, { signal: stopping.signal }).keys('');
  hanging.once('connection', () => stopping.abort());
  await expect(asking).rejects.toThrow('abort');
});

test('credentials come from a file or from the environment, and what is missing is named', () => {
  const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_SESSION_TOKEN: 'c' };
  expect(readCredentials(undefined, env)).toEqual({
    accessKeyId: 'a',
    secretAccessKey: 'b',
    sessionToken: 'c',
  });
  expect(readCredentials(credentialsFile(), {})).toEqual(credentials);
  expect(() => readCredentials(undefined, { AWS_ACCESS_KEY_ID: 'a' })).toThrow(
    'Cannot find the credentials of the bucket in the environment',
  );
  expect(() => readCredentials('/nowhere', {})).toThrow('Cannot read the credentials of the bucket: ENOENT');
});

// The example of AWS's own documentation: this server of the protocol does not check signatures of version 4.
test('requests are signed as AWS does it', async () => {
  const { headers } = await new AwsV4Signer({
    url: 'https://examplebucket.s3.amazonaws.com/?lifecycle',
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    headers: { 'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
    service: 's3',
    region: 'us-east-1',
    datetime: '20130524T000000Z',
  }).sign();
  expect(headers.get('authorization')).toContain(
    'Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  );
});

test('the executable backs itself up to a bucket', async () => {
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
  await expect.poll(() => bucketAt().keys('executable/')).toHaveLength(1);
  const [key] = await bucketAt().keys('executable/');
  const restored = join(temporaryDirectory(), 'backup');
  writeFileSync(restored, await objectAt(key!));
  expect(await runBinary(['verify', restored])).toMatchObject({ code: 0 });
  await expect.poll(() => service.stderr()).toContain('"msg":"a backup is made"');
  expect(readdirSync(service.data).sort()).toEqual(['accounts', 'usage']);
  await stop(service);
});
