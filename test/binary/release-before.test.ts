import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Layout, openLaidOut, usageLayout } from '../../src/storage/lmdb/layout.ts';
import { fillStore, readStore } from '../fixtures/stores/fill.ts';
import { fillMore, urls } from '../fixtures/stores/fill-more.ts';
import { fixtureNames, unpack } from '../fixtures/stores/unpack.ts';
import { freshDirectory, manage, prepare, startBinary, stop } from '../support/binary.ts';
import { freePorts } from '../support/free-ports.ts';
import { needing } from '../support/needing.ts';
import { binaryBefore, whyNoReleaseBefore } from '../support/release-before.ts';
import { runProgram } from '../support/run-binary.ts';
import { openShop, readChecks, type Shop, sendCheck } from '../support/shop.ts';
import { steadyResponses } from '../support/steady-responses.ts';

/** Tests a downgrade: the previous release uses the data directory of this version, without PostgreSQL. */
needing('git', 'g++', 'patch', { why: whyNoReleaseBefore }).describe('the previous release', () => {
  let before: string;

  beforeAll(async () => {
    before = await binaryBefore();
  });

  test('a downgrade and a later upgrade keep the data that the previous release does not know', async () => {
    const data = join(freshDirectory(), 'data');
    const credentials = await prepare(data);
    const now = await startBinary({ data, args: [...urls, '--webhook-allow-private', '--issuer-allow-private'] });
    const filled = await fillStore(now.http, credentials, Date.now());
    const more = await fillMore(now.http, filled);
    const said = await readStore(now.http, filled);
    await stop(now);

    const back = await startBinary({ data, binary: before, args: urls });
    // This version can have added fields to the responses.
    expect(steadyResponses(said)).toMatchObject(steadyResponses(await readStore(back.http, filled)) as object);
    await manage(back.http, more.valid, 'GET', '/api/v2/users', 200);
    await manage(back.http, more.invalidated, 'GET', '/api/v2/users', 401);
    const path = `/api/v2/applications/${filled.application}`;
    await manage(back.http, more.valid, 'PATCH', path, 200, { name: 'Changed by the release before' });
    await stop(back);

    const again = await startBinary({ data, args: urls });
    expect(await manage(again.http, more.valid, 'GET', path, 200)).toMatchObject({
      name: 'Changed by the release before',
    });
    const webhooks = `/api/v2/teams/${credentials.teamId}/webhooks`;
    expect(await manage(again.http, more.valid, 'GET', webhooks, 200)).toMatchObject({
      items: [{ name: 'Chat' }, { name: 'Broken' }],
    });
    await stop(again);
  });

  test('the previous release refuses a directory with packets in its journal, and accepts it after a clean stop', async () => {
    const data = join(freshDirectory(), 'data');
    const shop = await openShopIn(data);
    const { code, stderr } = await runProgram(before, ['serve', '--data', data, ...freePorts]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `Cannot use ${data}: a later version of flagmeter wrote its usage, in layout ${usageLayout.journalled}`,
    );
    const now = await startBinary({ data });
    expect(now.stderr()).toMatch(/"msg":"the journal was replayed","frames":\d+,"ms":\d+/);
    await stop(now);
    const back = await startBinary({ data, binary: before });
    expect(await readChecks(back.http, shop)).toEqual(new Map([['checkout', 1]]));
    await stop(back);
  });

  /** Creates a shop in the data directory. The server is killed right after it has accepted a packet. */
  async function openShopIn(data: string): Promise<Shop> {
    const credentials = await prepare(data);
    const service = await startBinary({ data });
    const shop = await openShop(service.http, credentials);
    expect(await sendCheck(service.http, shop.key, 'checkout')).toBe(202);
    await stop(service, 'SIGKILL');
    return shop;
  }

  test('the previous release refuses a layout later than its own, and changes nothing', async () => {
    const data = join(freshDirectory(), 'data');
    unpack(fixtureNames().at(-1)!, data);
    const later: Layout = { store: 'usage', steps: [...usageLayout.steps, () => {}] };
    await openLaidOut(data, later).close();
    const files = ['accounts', 'usage'].map((store) => join(data, store, 'data.mdb'));
    const bytes = () => files.map((file) => readFileSync(file).toString('base64'));
    const kept = bytes();
    const { code, stderr } = await runProgram(before, ['serve', '--data', data, ...freePorts]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `Cannot use ${data}: a later version of flagmeter wrote its usage, in layout ${usageLayout.steps.length + 2}`,
    );
    expect(bytes().every((file, index) => file === kept[index])).toBe(true);
  });
});
