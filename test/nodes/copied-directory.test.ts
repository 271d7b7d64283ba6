import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { freshDirectory, startBinary, stop } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { runBinary } from '../support/run-binary.ts';
import { openShop, readChecks, sendCheck } from '../support/shop.ts';

const often = { interval: 100 };

let database: Postgres | undefined;

needing('postgresql').describe('a node that is frozen while a copy of its directory starts', () => {
  test('a frozen node whose directory was copied responds with 503 after it resumes, and packets count once', async () => {
    database = await Postgres.start();
    const postgresUrl = await database.database();
    const credentials = await preparePostgres(postgresUrl);
    const start = (data: string) => startBinary({ data, args: ['--postgres', postgresUrl] });
    const original = await start(join(freshDirectory(), 'original'));
    const shop = await openShop(original.http, credentials);
    let accepted = 0;
    const send = async (http: string) => {
      const status = await sendCheck(http, shop.key, 'checkout');
      if (status === 202) accepted += 1;
      return status;
    };
    const expectCounted = (http: string) =>
      vi.waitFor(async () => {
        expect(await readChecks(http, shop)).toEqual(new Map([['checkout', accepted]]));
      }, often);
    await send(original.http);
    await expectCounted(original.http);

    original.kill('SIGSTOP');
    const data = join(freshDirectory(), 'copy');
    cpSync(original.data, data, { recursive: true });
    const copy = await start(data);
    for (let each = 0; each < 3; each += 1) await send(copy.http);
    await expectCounted(copy.http);
    original.kill('SIGCONT');
    await vi.waitFor(async () => expect(await send(original.http)).toBe(503), often);
    const ready = await fetch(`http://${original.http}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('empty directory')]);
    expect(original.stderr()).toContain('another process uses the directory of this node');
    const { stdout } = await runBinary(['postgres', 'status', '--postgres', postgresUrl, '--json']);
    expect(JSON.parse(stdout).nodes).toMatchObject([{ state: 'up', refuses: 'copied' }]);
    await send(copy.http);
    await stop(copy);
    await stop(original);

    const again = await start(original.data);
    await expectCounted(again.http);
    await stop(again);
  });
});
