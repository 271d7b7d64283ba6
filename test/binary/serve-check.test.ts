import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cleanUp, freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { runBinary } from '../support/run-binary.ts';

afterAll(cleanUp);

test('serve --check of a valid configuration exits with 0 and creates nothing', async () => {
  const directory = freshDirectory();
  const { code, stdout, stderr } = await runBinary([
    'serve',
    '--check',
    '--data',
    join(directory, 'data'),
    ...freePorts,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('ok       stores: a new store would be created\n');
  expect(readdirSync(directory)).toEqual([]);
});

test('serve --check lists every problem and exits with 1', async () => {
  const directory = freshDirectory();
  const other = await startBinary();
  const key = join(directory, 'key');
  writeFileSync(key, 'short', { mode: 0o600 });
  const data = join(directory, 'data');
  await prepare(data);
  writeFileSync(join(data, 'usage/data.mdb'), '');
  const { code, stdout } = await runBinary([
    ...['serve', '--check', '--data', data, '--backup-key-file', key],
    ...['--tls-cert', join(directory, 'no.pem'), '--tls-key', join(directory, 'no.key')],
    ...['--listen', other.http, '--grpc-listen', '127.0.0.1:0'],
    ...['--postgres', 'postgres://flagmeter@127.0.0.1:1/flagmeter'],
  ]);
  await stop(other);
  expect(code).toBe(1);
  const problems = [...stdout.matchAll(/^problem {2}(.*?): /gm)].map(([, name]) => name);
  expect(problems).toEqual([
    'TLS files',
    '--backup-key-file',
    'stores',
    `address ${other.http}`,
    'PostgreSQL',
  ]);
});

test('serve --check names the process that uses the data directory', async () => {
  const service = await startBinary();
  const check = [
    'serve',
    '--check',
    '--data',
    service.data,
    '--listen',
    service.http,
    '--grpc-listen',
    '127.0.0.1:0',
  ];
  const { code, stdout } = await runBinary(check);
  expect(code).toBe(0);
  expect(stdout).toContain(`ok       stores: in use by process ${service.pid}`);
  expect(stdout).toContain(`ok       address ${service.http}: in use, as the data directory is by process`);
  await stop(service);
});

test('serve --check refuses an unknown setting as serve does', async () => {
  expect(await runBinary(['serve', '--check', '--lissten', 'x'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown flag --lissten'),
  });
});
