import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { runBinary } from '../support/run-binary.ts';

test('serve --check of a valid configuration exits with code 0 and creates nothing', async () => {
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

test('serve --check lists every problem and exits with code 1', async () => {
  const directory = freshDirectory();
  const other = await startBinary();
  const data = join(directory, 'data');
  await prepare(data);
  writeFileSync(join(data, 'usage/data.mdb'), '');
  const { code, stdout } = await runBinary([
    ...['serve', '--check', '--data', data],
    ...['--tls-cert', join(directory, 'no.pem'), '--tls-key', join(directory, 'no.key')],
    ...['--listen', other.http, '--grpc-listen', '127.0.0.1:0'],
    ...['--postgres', 'postgres://flagmeter@127.0.0.1:1/flagmeter'],
  ]);
  await stop(other);
  expect(code).toBe(1);
  const problems = [...stdout.matchAll(/^problem {2}(.*?): /gm)].map(([, name]) => name);
  expect(problems).toEqual(['TLS files', 'stores', `address ${other.http}`, 'PostgreSQL']);
});

test('serve --check warns of faults that do not prevent startup, and the server starts', async () => {
  const directory = freshDirectory();
  const args = [
    ...['--data', join(directory, 'data'), '--backup-every', '24h', '--backup-to', join(directory, 'mount/backups')],
    ...['--postgres-key-file', join(directory, 'not-needed'), '--otlp-headers-file', join(directory, 'not-needed')],
  ];
  const { code, stdout } = await runBinary(['serve', '--check', ...args, ...freePorts]);
  expect(stdout.match(/^(problem|warning).*$/gm)).toEqual([
    `warning  --backup-to: Cannot write backups to ${directory}/mount/backups: no such directory; create it, or mount its volume; the server would start, and its backups would fail`,
  ]);
  expect(code).toBe(0);
  expect(readdirSync(directory)).toEqual([]);
  await stop(await startBinary({ data: join(directory, 'data'), args: args.slice(2) }));
});

test('serve --check without a backup schedule ignores the backup key, as serve does', async () => {
  const directory = freshDirectory();
  const unused = ['--backup-key-file', join(directory, 'no-key')];
  const args = ['--data', join(directory, 'data'), ...unused];
  expect(await runBinary(['serve', '--check', ...args, ...freePorts])).toMatchObject({ code: 0 });
  await stop(await startBinary({ data: join(directory, 'data'), args: unused }));
});

test('serve --check --existing accepts a directory whose preparation the server completes at startup', async () => {
  const data = join(freshDirectory(), 'data');
  await prepare(data);
  mkdirSync(join(data, 'prepared.tmp'));
  renameSync(join(data, 'usage'), join(data, 'prepared.tmp/usage'));
  const check = ['serve', '--check', '--data', data, '--existing', ...freePorts];
  expect(await runBinary(check)).toMatchObject({ code: 0 });
  await stop(await startBinary({ data, args: ['--existing'] }));
});

test.each([
  [
    'whose journal belongs to a lost store',
    (data: string) => {
      mkdirSync(join(data, 'journal/1'), { recursive: true });
      writeFileSync(join(data, 'journal/1/0000000001.segment'), '');
    },
    'has packets of a missing store',
  ],
  ['that is a file', (data: string) => writeFileSync(data, ''), 'is not a directory'],
])('serve --check refuses a data directory %s, as serve does', async (_, make, words) => {
  const data = join(freshDirectory(), 'data');
  await make(data);
  const { code, stdout } = await runBinary(['serve', '--check', '--data', data, ...freePorts]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(words) });
  expect((await runBinary(['serve', '--data', data, ...freePorts])).code).toBe(1);
});

test.each([
  ['', 'it'],
  ['/below', 'FILE'],
])('serve --check reports only once that --data FILE%s is not a directory', async (below, named) => {
  const file = join(freshDirectory(), 'data.json');
  writeFileSync(file, '{}');
  const { stdout } = await runBinary(['serve', '--check', '--data', `${file}${below}`, ...freePorts]);
  expect(stdout.match(/^problem.*$/gm)).toEqual([
    `problem  data directory: Cannot write ${file}${below}: ${named.replace('FILE', file)} is not a directory`,
  ]);
});

test('serve --check reports which process uses the data directory', async () => {
  const service = await startBinary();
  const check = ['serve', '--check', '--data', service.data, '--listen', service.http, '--grpc-listen', '127.0.0.1:0'];
  const { code, stdout } = await runBinary(check);
  expect(code).toBe(0);
  expect(stdout).toContain(`ok       stores: in use by process ${service.pid}`);
  expect(stdout).toContain(`ok       address ${service.http}: in use by process`);
  await stop(service);
});

test('serve --check refuses an unknown setting as serve does', async () => {
  expect(await runBinary(['serve', '--check', '--lissten', 'x'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown option --lissten'),
  });
});
