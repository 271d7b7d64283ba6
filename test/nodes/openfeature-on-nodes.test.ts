import { join } from 'node:path';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import {
  type Binary,
  createApplication,
  createKey,
  freshDirectory,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { createEnvironment, type Owner, readCounts, readUsers } from '../support/environment.ts';
import { needing } from '../support/needing.ts';
import { opened } from '../support/opened.ts';
import { openFeatureSdks, prepareServerApp, type ServerApp } from '../support/openfeature.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { startUnreliableHost, type UnreliableHost } from '../support/unreliable-host.ts';

const { describe, test } = needing('postgresql', openFeatureSdks);

describe("OpenFeature's server SDK on two nodes", () => {
  const database = opened(() => Postgres.start());
  let owner: Owner;
  let host: UnreliableHost;
  let app: ServerApp;
  let environment: string;
  const nodes: Binary[] = [];

  beforeAll(async () => {
    const postgres = await database.database();
    const credentials = await preparePostgres(postgres);
    for (const name of ['one', 'two']) {
      const args = ['--postgres', postgres, '--node-name', name];
      nodes.push(await startBinary({ data: join(freshDirectory(), 'data'), args }));
    }
    const { http } = nodes[0]!;
    const access = await token(http, credentials);
    owner = { http, access, application: await createApplication(http, access, { name: 'Shop' }) };
    const { key } = await createKey(http, access, owner.application, 'Backend');
    environment = await createEnvironment(owner);
    // A node refuses a new key until it has read the key from PostgreSQL. Refused reports are not sent again.
    for (const node of nodes) await vi.waitFor(async () => expect(await report(node, key)).toBe(200));
    host = await startUnreliableHost(http);
    app = await (await prepareServerApp())({ url: host.url, key, environment, seconds: 3600 });
  });

  /** Sends a report that counts nothing. @returns the status */
  async function report({ http }: Binary, appKey: string): Promise<number> {
    const body = JSON.stringify({ appKey, environment, time: new Date().toISOString(), stats: [] });
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`http://${http}/api/usage/stats`, { method: 'POST', headers, body })).status;
  }

  afterAll(async () => {
    app?.kill();
    host?.close();
    for (const node of nodes) await stop(node);
  });

  test('a report of the OpenFeature SDK counts once if one node counts it and another responds to the retry', async () => {
    for (const [from, to] of [nodes, [...nodes].reverse()] as [Binary, Binary][]) {
      host.target = from.http;
      host.behave('lose');
      await app.act('evaluate', 'checkout', 'ada', 100);
      await app.act('flush');
      host.target = to.http;
      host.behave('forward');
      await app.act('evaluate', 'checkout', 'bob', 50);
      await app.act('flush');
    }
    // Shipped counts are applied in order. All earlier counts are applied before these counts.
    for (const { http } of nodes) {
      host.target = http;
      await app.act('evaluate', 'retired', 'ada', 1);
      await app.act('flush');
    }
    const read = async () => [await readCounts(owner, environment), await readUsers(owner, environment)];
    const variants = [
      ['off', 100, 0],
      ['on', 200, 0],
    ];
    const expected = [
      { checkout: variants, retired: [['disabled', nodes.length, 0]] },
      { checkout: 2, retired: 1 },
    ];
    await vi.waitFor(async () => expect(await read()).toEqual(expected));
  });
});
