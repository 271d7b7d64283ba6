import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type Binary, freshDirectory, manage, startBinary, stop, token } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { opened } from '../support/opened.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { runBinary } from '../support/run-binary.ts';

const { test } = needing('postgresql');

const database = opened(() => Postgres.start());

test('nodes with a key file continue after their secrets were encrypted, and do not start without the file', async () => {
  const url = await database.database();
  const credentials = await preparePostgres(url);
  const postgres = ['--postgres', url];
  const key = ['--postgres-key-file', join(freshDirectory(), 'key')];
  const urls = ['--auth-url', 'http://auth.example', '--base-url', 'http://auth.example'];
  const data = freshDirectory();
  const start = (...args: string[]) => startBinary({ data, args: [...postgres, ...urls, ...args] });
  const encrypt = () => runBinary(['postgres', 'encrypt', ...postgres, ...key]);
  let node: Binary = await start('--node-name', 'north');
  onTestFinished(() => stop(node, 'SIGKILL').then(() => {}));
  const bearer = await token(node.http, credentials);
  expect(await runBinary(['postgres', 'key', '--out', key[1]!])).toMatchObject({ code: 0 });

  const early = await encrypt();
  expect(early).toMatchObject({ code: 1, stderr: expect.stringMatching(/while nodes are running.*node north/) });
  const rotate = await runBinary(['signing-keys', 'rotate', ...postgres, ...key]);
  expect(rotate).toMatchObject({ code: 1, stderr: expect.stringContaining('are not encrypted yet') });

  await stop(node);
  expect(await encrypt()).toMatchObject({ code: 0, stdout: expect.stringContaining('Encrypted') });
  const without = await runBinary([
    'serve',
    '--data',
    data,
    ...postgres,
    ...urls,
    '--listen',
    '127.0.0.1:0',
    '--grpc-listen',
    '127.0.0.1:0',
  ]);
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('are encrypted: name the key') });
  node = await start(...key);
  await manage(node.http, bearer, 'GET', '/api/v2/applications', 200);
  const other = await startBinary({ args: [...postgres, ...urls, ...key] });
  onTestFinished(() => stop(other, 'SIGKILL').then(() => {}));
  await manage(other.http, bearer, 'GET', '/api/v2/applications', 200);
  const status = await runBinary(['postgres', 'status', ...postgres, '--json']);
  expect(JSON.parse(status.stdout).warnings.join()).not.toContain('clear text');
});
