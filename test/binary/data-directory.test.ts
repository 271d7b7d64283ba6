import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { freshDirectory, startBinary, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { copyPrepared } from '../support/prepared.ts';
import { runBinary } from '../support/run-binary.ts';
import { openShop } from '../support/shop.ts';

const parseLog = (stderr: string): Record<string, unknown>[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

describe('startup', () => {
  test('startup logs that the store is new, or the number of its applications', async () => {
    const data = `${freshDirectory()}/data`;
    const credentials = await copyPrepared(data);
    const first = await startBinary({ data });
    await openShop(first.http, credentials);
    await stop(first);
    const again = await startBinary({ data, args: ['--existing'] });
    const fresh = await startBinary();
    expect(parseLog(again.stderr())).toContainEqual(
      expect.objectContaining({ msg: 'opened an existing store', data, applications: 1 }),
    );
    expect(parseLog(fresh.stderr())).toContainEqual(
      expect.objectContaining({ msg: 'prepared a new store', data: fresh.data }),
    );
    await Promise.all([stop(again), stop(fresh)]);
  });

  test.each([
    ['does not exist', () => {}],
    ['is empty', (data: string) => mkdirSync(data)],
    [
      'has lost its usage',
      async (data: string) => {
        await copyPrepared(data);
        rmSync(`${data}/usage`, { recursive: true });
      },
    ],
  ])('serve --existing refuses a data directory that %s, and leaves it unchanged', async (_what, make) => {
    const data = `${freshDirectory()}/data`;
    await make(data);
    const before = existsSync(data) && readdirSync(data);
    await expect(startBinary({ data, args: ['--existing'] })).rejects.toThrow(
      `Cannot find a store in ${data}: there is no `,
    );
    expect(existsSync(data) && readdirSync(data)).toEqual(before);
  });
});

describe('a data directory that has lost its usage', () => {
  const losses = [
    ['the folder of its usage is missing', (usage: string) => rmSync(usage, { recursive: true }), 'missing'],
    ['the file of its usage is missing', (usage: string) => rmSync(`${usage}/data.mdb`), 'missing'],
    ['the file of its usage has 0 bytes', (usage: string) => truncateSync(`${usage}/data.mdb`), 'empty'],
  ] as const;

  test.each(losses)('every command refuses a data directory if %s', async (_what, lose, fault) => {
    const directory = freshDirectory();
    const data = `${directory}/data`;
    await copyPrepared(data);
    writeFileSync(`${directory}/backup`, 'the previous one');
    lose(`${data}/usage`);
    const before = readdirSync(data, { recursive: true }).sort();
    const run = (command: string, ...args: string[]) => runBinary([command, '--data', data, ...args]);

    const served = await run('serve', ...freePorts);
    expect(served).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `Cannot open ${data}/usage/data.mdb: it is ${fault}; restore the data directory from a backup`,
      ),
    });
    const verified = await run('verify');
    expect(verified).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`${data}/usage/data.mdb: ${fault === 'missing' ? '' : 'it is '}${fault}`),
      stderr: expect.stringContaining(`Do not start a service on ${data}`),
    });
    expect((await run('serve', '--check', ...freePorts)).code).toBe(1);
    expect((await run('init', '--admin-email', 'a@example.com')).code).toBe(1);
    expect((await run('compact')).code).toBe(1);
    expect((await run('backup', '--to', `${directory}/backup`)).code).toBe(1);
    expect(readFileSync(`${directory}/backup`, 'utf8')).toBe('the previous one');
    expect(readdirSync(data, { recursive: true }).sort()).toEqual(before);
  });
});

test('backup refuses a data directory whose journal was lost after a kill, and keeps the previous backup', async () => {
  const directory = freshDirectory();
  const { data, kill, exit } = await startBinary();
  kill('SIGKILL');
  await exit;
  rmSync(`${data}/journal`, { recursive: true });
  writeFileSync(`${directory}/backup`, 'the previous one');
  expect(await runBinary(['backup', '--data', data, '--to', `${directory}/backup`])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Cannot read the journal of ${data}: ${data}/journal is missing`),
  });
  expect(readFileSync(`${directory}/backup`, 'utf8')).toBe('the previous one');
});

describe('a data directory whose preparation was interrupted by a power failure', () => {
  test('the next startup completes a data directory with an unfinished, empty store', async () => {
    const data = `${freshDirectory()}/data`;
    mkdirSync(`${data}/prepare.tmp/accounts`, { recursive: true });
    writeFileSync(`${data}/prepare.tmp/accounts/data.mdb`, '');
    const service = await startBinary({ data });
    expect(service.stderr()).toContain('Client secret');
    await stop(service);
  });
});
