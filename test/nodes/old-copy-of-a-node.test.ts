import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  type Binary,
  createApplication,
  createKey,
  freshDirectory,
  startBinary,
  stop,
  token,
  usage,
} from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparedDatabase } from '../support/prepare-postgres.ts';
import { runBinary } from '../support/run-binary.ts';
import { sendCheck } from '../support/shop.ts';

/** Restores a machine from a disk backup with counts that its node had not shipped at the time of the backup. */

const urls = ['--auth-url', 'https://auth.example', '--base-url', 'https://api.example'];
const often = { interval: 100 };

let database: Postgres | undefined;

needing('postgresql').describe('a node whose directory is restored from a backup', () => {
  test('a node whose directory is restored from a backup counts every packet exactly once', async () => {
    database = await Postgres.shared();
    const { url: postgresUrl, credentials } = await preparedDatabase(database);
    const data = join(freshDirectory(), 'one');
    const start = (directory: string, name: string) =>
      startBinary({ data: directory, args: ['--postgres', postgresUrl, '--node-name', name, ...urls] });
    let one = await start(data, 'one');
    const two = await start(join(freshDirectory(), 'two'), 'two');
    const bearer = await token(one.http, credentials);
    const application = await createApplication(one.http, bearer, { name: 'Shop' });
    const { key } = await createKey(one.http, bearer, application, 'Frontend');

    let counted = 0;
    const count = async (times: number) => {
      for (let time = 0; time < times; time += 1) expect(await sendCheck(one.http, key, 'checkout')).toBe(202);
      counted += times;
    };
    const expectCounted = async (nodes: readonly Binary[]) => {
      const to = new Date(Date.now() + 60_000);
      const from = new Date(to.getTime() - 3_600_000);
      const query = { environment: 'Production', from, to, step: 'hour' } as const;
      for (const { http } of nodes)
        await vi.waitFor(async () => {
          const { features } = await usage(http, bearer, application, query);
          expect(features[0]?.checks).toBe(counted);
        }, often);
    };

    await count(5);
    await expectCounted([one, two]);
    expect(await runBinary(['backup', '--data', data, '--to', join(freshDirectory(), 'x')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it belongs to a node of several machines; back up PostgreSQL'),
    });
    await database.stop();
    await count(7);
    await stop(one, 'SIGKILL');
    const backup = join(freshDirectory(), 'backup');
    cpSync(data, backup, { recursive: true });
    await database.start();

    one = await start(data, 'one');
    await expectCounted([one, two]);
    await count(11);
    await expectCounted([one, two]);
    await stop(one, 'SIGKILL');
    rmSync(data, { recursive: true });
    cpSync(backup, data, { recursive: true });

    one = await start(data, 'one');
    await count(13);
    await expectCounted([one, two]);
    await stop(one);
    await stop(two);
  });
});
