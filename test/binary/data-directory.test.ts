import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { binaryPath, cleanUp, freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';
import { openShop } from '../support/shop.ts';

afterAll(cleanUp);

const logOf = (stderr: string): Record<string, unknown>[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

describe('the start', () => {
  test('logs whether the store is new, or the number of its applications', async () => {
    const data = `${freshDirectory()}/data`;
    const credentials = await prepare(data);
    const first = await startBinary({ data });
    await openShop(first.http, credentials);
    await stop(first);
    const [again, fresh] = [await startBinary({ data, args: ['--existing'] }), await startBinary()];
    expect(logOf(again.stderr())).toContainEqual(
      expect.objectContaining({ msg: 'opened an existing store', data, applications: 1 }),
    );
    expect(logOf(fresh.stderr())).toContainEqual(
      expect.objectContaining({ msg: 'prepared a new store', data: fresh.data }),
    );
    await Promise.all([stop(again), stop(fresh)]);
    expect(again.stderr()).not.toContain('no usage store found');
    rmSync(`${data}/usage`, { recursive: true });
    const bereft = await startBinary({ data });
    expect(logOf(bereft.stderr())).toContainEqual(
      expect.objectContaining({ level: 'warn', msg: 'no usage store found: creating an empty one' }),
    );
    await stop(bereft);
  });

  test.each([
    ['is not there', () => {}],
    ['is empty', (data: string) => mkdirSync(data)],
    [
      'has lost its usage',
      async (data: string) => {
        await prepare(data);
        rmSync(`${data}/usage`, { recursive: true });
      },
    ],
  ])(
    'with --existing on a data directory that %s is refused, and leaves it unchanged',
    async (_what, make) => {
      const data = `${freshDirectory()}/data`;
      await make(data);
      const before = existsSync(data) && readdirSync(data);
      await expect(startBinary({ data, args: ['--existing'] })).rejects.toThrow(
        `Cannot find a store in ${data}: there is no `,
      );
      expect(existsSync(data) && readdirSync(data)).toEqual(before);
    },
  );
});

describe('a data directory whose preparation was interrupted by a power failure', () => {
  test('is prepared by the next start, wherever the preparation was interrupted', async () => {
    for (let delay = 20; delay <= 200; delay += 20) {
      const data = `${freshDirectory()}/data`;
      const init = spawn(binaryPath, ['init', '--data', data, '--admin-email', 'a@example.com'], {
        stdio: 'ignore',
      });
      const ended = once(init, 'exit');
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, delay))]);
      init.kill('SIGKILL');
      await ended;
      await stop(await startBinary({ data }));
      expect(readdirSync(data).sort()).toEqual(['accounts', 'journal', 'usage']);
    }
  });

  test('may hold files of any length', async () => {
    const data = `${freshDirectory()}/data`;
    mkdirSync(`${data}/prepare.tmp/accounts`, { recursive: true });
    writeFileSync(`${data}/prepare.tmp/accounts/data.mdb`, '');
    const service = await startBinary({ data });
    expect(service.stderr()).toContain('Client secret');
    await stop(service);
  });
});
