import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { runBinary } from '../support/run-binary.ts';

/** Cases in which `serve --postgres` starts, waits, or refuses to start. */

let database: Postgres;
let postgresUrl: string;
/** Directory of a node that has used the database before. */
let node: string;

needing('postgresql').describe('a node', () => {
  beforeAll(async () => {
    database = await Postgres.start();
    postgresUrl = await newDatabase();
    node = join(freshDirectory(), 'node');
    await stop(await startBinary({ data: node, args: ['--postgres', postgresUrl] }));
  });

  const refusals: [string, () => Promise<readonly string[]>, RegExp][] = [
    ['an invalid URL', async () => ['--postgres', 'postgres://'], /--postgres|URL/],
    ['a database without tables', async () => ['--postgres', await database.database()], /flagmeter postgres init/],
    ['a missing database', async () => ['--postgres', database.url('no_such')], /no_such/],
    [
      'a key file for a database without encrypted secrets',
      async () => ['--postgres', postgresUrl, '--postgres-key-file', await keyFile()],
      /--postgres-key-file/,
    ],
    ['several workers', async () => ['--postgres', postgresUrl, '--workers', '2'], /--workers 2/],
  ];
  test.each(refusals)('a node refuses to start with %s, and writes nothing', async (_, args, words) => {
    const data = join(freshDirectory(), 'empty');
    const ended = await serve(data, await args());
    expect(ended).toMatchObject({ code: expect.any(Number), stderr: expect.stringMatching(words) });
    expect(ended.code).not.toBe(0);
    expect(filesIn(data)).toEqual([]);
  });

  test.each([
    [['--auth-url'], ['--base-url', 'https://flags.example']],
    [[], ['--auth-url', 'https://flags.example']],
    [['--base-url'], ['--auth-url', 'https://flags.example', '--api-listen', '127.0.0.1:0']],
  ])('the missing public addresses that a node warns about are %j', async (missing, given) => {
    const data = join(freshDirectory(), 'addresses');
    const started = await startBinary({ data, args: ['--postgres', postgresUrl, ...given] });
    await stop(started);
    const warnings = started
      .stderr()
      .split('\n')
      .filter((line) => line.includes('public addresses'));
    expect(warnings.map((line) => JSON.parse(line).missing)).toEqual(missing.length === 0 ? [] : [missing]);
  });

  test('a node refuses to start on the directory of a single machine', async () => {
    const data = join(freshDirectory(), 'single');
    await prepare(data);
    const ended = await serve(data, ['--postgres', postgresUrl]);
    expect(ended.stderr).toMatch(/has the accounts of a single machine; move them with flagmeter postgres adopt/);
    expect(filesIn(data)).not.toContain('spool');
  });

  test('a node refuses to start on a directory that was used with another database', async () => {
    const ended = await serve(node, ['--postgres', await newDatabase()]);
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toMatch(/was used with another database/);
  });

  test('a server without --postgres refuses to start on the directory of a node', async () => {
    const ended = await serve(node, []);
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toMatch(/--postgres/);
  });

  test('only one of two nodes runs if the second node uses a copy of the directory of the first node', async () => {
    const running = await startBinary({ data: node, args: ['--postgres', postgresUrl] });
    const copy = join(freshDirectory(), 'copy');
    cpSync(node, copy, { recursive: true });
    const second = startBinary({ data: copy, args: ['--postgres', postgresUrl] });
    // The copy takes over from a node whose last heartbeat is 2.5 s old, for example on a busy machine.
    const refused = /uses the same directory or a copy of it right now/;
    const isRefused = second.then(
      () => vi.waitFor(() => expect(running.stderr()).toMatch(refused)),
      (error: Error) => expect(error.message).toMatch(refused),
    );
    onTestFinished(async () => {
      const started = await second.catch(() => undefined);
      await Promise.all([running, started].map((each) => each && stop(each, 'SIGKILL')));
    });
    await isRefused;
  });

  test('a node with an empty directory waits for PostgreSQL, and starts once PostgreSQL is available', async () => {
    const data = join(freshDirectory(), 'waiting');
    await database.stop();
    let isReady = false;
    const starting = startBinary({ data, args: ['--postgres', postgresUrl] }).then((started) => {
      isReady = true;
      return started;
    });
    await vi.waitFor(() => expect(existsSync(data)).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(isReady).toBe(false);
    await database.start();
    const started = await starting;
    expect(started.stderr()).toMatch(/this data directory is empty: the service starts when PostgreSQL is available/);
    expect(await stop(started)).toMatchObject({ code: 0 });
  });
});

test('a single machine has no spool', async () => {
  const service = await startBinary();
  expect(existsSync(join(service.data, 'spool'))).toBe(false);
  await stop(service);
});

function serve(data: string, args: readonly string[]) {
  return runBinary(['serve', '--data', data, ...freePorts, ...args]);
}

async function newDatabase(): Promise<string> {
  const url = await database.database();
  await preparePostgres(url);
  return url;
}

async function keyFile(): Promise<string> {
  const file = join(freshDirectory(), 'key');
  writeFileSync(file, `${Buffer.alloc(32, 1).toString('base64')}\n`, { mode: 0o600 });
  return file;
}

function filesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}
