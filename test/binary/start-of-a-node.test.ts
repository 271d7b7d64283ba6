import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { cleanUp, freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { prepareEngine } from '../support/prepare-engine.ts';
import { runBinary } from '../support/run-binary.ts';

/** What `serve --engine` says when it must not go on, and that it has written nothing then. */

const listen = ['--listen', '127.0.0.1:0', '--grpc-listen', '127.0.0.1:0'];

let database: Postgres;
let engine: string;
/** A directory that has been a node of the engine. */
let node: string;

needing('postgresql').describe('a node', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    database = await Postgres.start();
    engine = await newEngine();
    node = join(freshDirectory(), 'node');
    await stop(await startBinary({ data: node, args: ['--engine', engine] }));
  }, 120_000);

  afterAll(async () => {
    await database.close();
    cleanUp();
  });

  const refusals: [string, () => Promise<readonly string[]>, RegExp][] = [
    ['a URL that is none', async () => ['--engine', 'postgres://'], /--engine|URL/],
    [
      'a database without tables',
      async () => ['--engine', await database.database()],
      /flagmeter engine init/,
    ],
    ['a database that is not there', async () => ['--engine', database.url('no_such')], /no_such/],
    [
      'a key file that the engine has not',
      async () => ['--engine', engine, '--engine-key-file', await keyFile()],
      /--engine-key-file/,
    ],
    ['several workers', async () => ['--engine', engine, '--workers', '2'], /--workers 2/],
  ];
  test.each(refusals)('with %s says so, and writes nothing', async (_, args, words) => {
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
  ])('is warned of %j that is its own', async (missing, given) => {
    const data = join(freshDirectory(), 'addresses');
    const started = await startBinary({ data, args: ['--engine', engine, ...given] });
    await stop(started);
    const warnings = started
      .stderr()
      .split('\n')
      .filter((line) => line.includes('public addresses'));
    expect(warnings.map((line) => JSON.parse(line).missing)).toEqual(missing.length === 0 ? [] : [missing]);
  });

  test('on the directory of a single machine is refused', async () => {
    const data = join(freshDirectory(), 'single');
    await prepare(data);
    const ended = await serve(data, ['--engine', engine]);
    expect(ended.stderr).toMatch(/holds the accounts of a single machine; flagmeter engine adopt/);
    expect(filesIn(data)).not.toContain('spool');
  });

  test('on the directory of another engine is refused', async () => {
    const ended = await serve(node, ['--engine', await newEngine()]);
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toMatch(/engine/);
  });

  test('is not started as a single machine', async () => {
    const ended = await serve(node, []);
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toMatch(/--engine/);
  });

  test('on a copy of a directory that is in use is refused, or the other one is', async () => {
    const running = await startBinary({ data: node, args: ['--engine', engine] });
    const copy = join(freshDirectory(), 'copy');
    cpSync(node, copy, { recursive: true });
    const second = startBinary({ data: copy, args: ['--engine', engine] });
    // The copy takes over from a node that has been silent for 2.5 s, as one on a busy machine may be.
    const refused = /uses the same directory or a copy of it right now/;
    const isRefused = second.then(
      () => vi.waitFor(() => expect(running.stderr()).toMatch(refused), { timeout: 60_000 }),
      (error: Error) => expect(error.message).toMatch(refused),
    );
    onTestFinished(async () => {
      const started = await second.catch(() => undefined);
      await Promise.all([running, started].map((each) => each && stop(each, 'SIGKILL')));
    });
    await isRefused;
  });

  test('with an empty directory waits for an engine that is away, and begins when it is there', async () => {
    const data = join(freshDirectory(), 'waiting');
    await database.stop();
    let isReady = false;
    const starting = startBinary({ data, args: ['--engine', engine] }).then((started) => {
      isReady = true;
      return started;
    });
    await vi.waitFor(() => expect(existsSync(data)).toBe(true), { timeout: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(isReady).toBe(false);
    await database.start();
    const started = await starting;
    expect(started.stderr()).toMatch(
      /this data directory is empty: the service begins once the engine answers/,
    );
    expect(await stop(started)).toMatchObject({ code: 0 });
  });
});

test('a single machine loads nothing of several', async () => {
  const service = await startBinary();
  expect(existsSync(join(service.data, 'spool'))).toBe(false);
  await stop(service);
});

function serve(data: string, args: readonly string[]) {
  return runBinary(['serve', '--data', data, ...listen, ...args]);
}

async function newEngine(): Promise<string> {
  const url = await database.database();
  await prepareEngine(url);
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
