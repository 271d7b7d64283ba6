import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runImport } from '../../src/cli/import/run-import.ts';
import { testContext } from '../cli/fixture.ts';
import {
  type Binary,
  type Credentials,
  cleanUp,
  freshDirectory,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { openShop, readChecks, type Shop } from '../support/shop.ts';

const names = ['one', 'two'] as const;
const counts = 20_000;
const features = 50;

let database: Postgres;
let credentials: Credentials;
let shop: Shop;
const nodes: Binary[] = [];

/** Imports a file through a node, into the environment Production. */
async function importOn({ http }: Binary, path: string): Promise<Readonly<Record<string, number>>> {
  const env = { FLAGMETER_URL: `http://${http}`, FLAGMETER_TOKEN: await token(http, credentials) };
  const context = testContext({ env });
  const target = ['--app', shop.application, '--environment', 'Production', '--format', 'csv', '--json'];
  expect(await runImport([path, ...target], context)).toBe(0);
  return JSON.parse(context.output.out);
}

needing('postgresql').describe('two nodes on one PostgreSQL', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    database = await Postgres.start();
    const postgres = await database.database();
    credentials = await preparePostgres(postgres);
    for (const name of names) {
      const args = ['--postgres', postgres, '--node-name', name];
      nodes.push(await startBinary({ data: join(freshDirectory(), 'data'), args }));
    }
    shop = await openShop(nodes[0]!.http, credentials);
  }, 180_000);

  afterAll(async () => {
    for (const node of nodes) await stop(node);
    await database?.close();
    cleanUp();
  });

  test('count a file once, although it is imported through both at the same time', async () => {
    const time = new Date(Date.now() - 3_600_000).toISOString();
    const rows = Array.from({ length: counts }, (_, n) => `${time},flag-${n % features},on,1`);
    const path = join(freshDirectory(), 'history.csv');
    writeFileSync(path, ['time,feature,variant,checks', ...rows].join('\n'));

    await Promise.all(nodes.map((node) => importOn(node, path)));
    const expected = Array(features).fill(counts / features);
    for (const { http } of nodes) {
      const read = async () => [...(await readChecks(http, shop)).values()];
      await vi.waitFor(async () => expect(await read()).toEqual(expected), {
        timeout: 60_000,
        interval: 100,
      });
    }
    expect(await importOn(nodes[1]!, path)).toMatchObject({ imported: 0, repeated: counts });
    for (const { http } of nodes) expect([...(await readChecks(http, shop)).values()]).toEqual(expected);
  });
});
