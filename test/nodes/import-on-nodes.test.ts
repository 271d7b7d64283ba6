import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runImport } from '../../src/cli/import/run-import.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { testContext } from '../cli/fixture.ts';
import { type Binary, type Credentials, freshDirectory, manage, startBinary, stop, token } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { openShop, readChecks, type Shop } from '../support/shop.ts';

const names = ['one', 'two'] as const;
const counts = 20_000;
const features = 50;
const often = { interval: 100 };

let database: Postgres;
let credentials: Credentials;
let shop: Shop;
const nodes: Binary[] = [];

interface Watch {
  readonly environment?: string;
  /** Called before each part is sent, with the number of parts before it. */
  readonly beforePart?: (parts: number) => Promise<void>;
  /** Called when the client waits. */
  readonly onWait?: () => Promise<void>;
}

/** Imports a file through a node. */
async function importOn(
  { http }: Binary,
  path: string,
  { environment = 'Production', beforePart, onWait }: Watch = {},
): Promise<Readonly<Record<string, number>>> {
  const env = { FLAGMETER_URL: `http://${http}`, FLAGMETER_TOKEN: await token(http, credentials) };
  let parts = 0;
  const context = {
    ...testContext({ env }),
    clock: systemClock,
    async fetch(url: string, init: RequestInit) {
      const isPart = url.endsWith('/imports');
      if (isPart) await beforePart?.(parts);
      if (isPart) parts += 1;
      return fetch(url, init);
    },
    async sleep(ms: number) {
      await onWait?.();
      await pause(Math.min(ms, 100));
    },
  };
  const target = ['--app', shop.application, '--env', environment, '--format', 'csv', '--json'];
  expect(await runImport.run([path, ...target], context)).toBe(0);
  return JSON.parse(context.output.out);
}

/** Writes a file of checks of an hour ago. */
function writeHistory(checks: number): string {
  const time = new Date(Date.now() - 3_600_000).toISOString();
  const rows = Array.from({ length: counts }, (_, n) => `${time},flag-${n % features},on,${checks}`);
  const path = join(freshDirectory(), 'history.csv');
  writeFileSync(path, ['time,feature,variant,checks', ...rows].join('\n'));
  return path;
}

/** Waits until each node reports this number of checks of every flag. */
async function expectChecks(checks: number): Promise<void> {
  const expected = Array(features).fill(checks);
  for (const { http } of nodes) {
    const read = async () => [...(await readChecks(http, shop)).values()];
    await vi.waitFor(async () => expect(await read()).toEqual(expected), often);
  }
}

needing('postgresql').describe('two nodes on one PostgreSQL', () => {
  beforeAll(async () => {
    database = await Postgres.start();
    const postgres = await database.database();
    credentials = await preparePostgres(postgres);
    for (const name of names) {
      const args = ['--postgres', postgres, '--node-name', name];
      nodes.push(await startBinary({ data: join(freshDirectory(), 'data'), args }));
    }
    shop = await openShop(nodes[0]!.http, credentials);
  });

  afterAll(async () => {
    for (const node of nodes) await stop(node);
  });

  test('two nodes count an imported file once, although both import it at the same time', async () => {
    const path = writeHistory(1);
    await Promise.all(nodes.map((node) => importOn(node, path)));
    await expectChecks(counts / features);
    expect(await importOn(nodes[1]!, path)).toMatchObject({ imported: 0, repeated: counts });
    await expectChecks(counts / features);
  });

  test('two nodes count an imported file once, although PostgreSQL is unreachable during the import', async () => {
    let restarts = 0;
    const summary = await importOn(nodes[0]!, writeHistory(2), {
      async beforePart(parts) {
        if (parts === 3) await database.stop();
      },
      async onWait() {
        if (database.isRunning) return;
        restarts += 1;
        await database.start();
      },
    });
    expect(restarts).toBe(1);
    expect(summary['imported']! + summary['repeated']!).toBe(counts);
    await expectChecks((3 * counts) / features);
  });

  test('two nodes count an imported file again after its environment was deleted and created again', async () => {
    const path = writeHistory(1);
    const { http } = nodes[0]!;
    const access = await token(http, credentials);
    const environments = `/api/v2/applications/${shop.application}/environments`;
    const create = () => manage(http, access, 'POST', environments, 201, { name: 'History' });
    await create();
    const again = { environment: 'History' };
    expect(await importOn(nodes[0]!, path, again)).toMatchObject({ imported: counts });
    await vi.waitFor(async () => {
      expect(await importOn(nodes[1]!, path, again)).toMatchObject({ repeated: counts });
    }, often);
    await manage(http, access, 'DELETE', `${environments}/History`, 204);
    await create();
    expect(await importOn(nodes[1]!, path, again)).toMatchObject({ imported: counts });
    await vi.waitFor(async () => {
      expect(await importOn(nodes[0]!, path, again)).toMatchObject({ repeated: counts });
    }, often);
    await expectChecks((3 * counts) / features);
  });
});
