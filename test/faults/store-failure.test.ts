import { type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createKey, type StartedProcess, startBinary, token } from '../support/binary.ts';
import { startOnFailingDisk } from '../support/failing-disk.ts';
import { canMount } from '../support/mount.ts';
import { needing } from '../support/needing.ts';
import { type Credentials, openShop, readChecks, sendCheck, tryApplication } from '../support/shop.ts';
import { prepareOnSmallDisk, sendUntilFull } from '../support/small-disk.ts';

async function expectUnavailable(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('5');
  expect(await response.json()).toMatchObject({ code: 'store_unavailable' });
}

/**
 * Possible statuses of a refused request. The ledger is also committed in the background. If the ledger commit fails
 * first, the listener can already be closed.
 */
const refused = [503, undefined];

async function isReady(http: string): Promise<number> {
  return (await fetch(`http://${http}/readyz`)).status;
}

needing('g++').describe('a failed fdatasync', () => {
  test('a server whose fdatasync fails accepts no packet and exits with code 1, and a restart keeps accepted packets', async () => {
    const service = await startOnFailingDisk('FAILING_SYNC');
    const { data } = service;
    const shop = await openShop(service.http, service.credentials);
    expect(await sendCheck(service.http, shop.key, 'kept')).toBe(202);

    service.fail();
    expect(refused).toContain(await sendCheck(service.http, shop.key, 'lost'));
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(service.stderr()).toContain('"the store failed');
    expectOnlyLog(service);

    const again = await startBinary({ data });
    const checks = await readChecks(again.http, shop);
    expect(checks.get('kept')).toBe(1);
    expect(checks.get('lost') ?? 0).toBeLessThanOrEqual(1);
    again.kill('SIGTERM');
    expect((await again.exit).code).toBe(0);
  });

  test('a change gets 503 if fdatasync fails, and the process exits with code 1', async () => {
    const service = await startOnFailingDisk('FAILING_SYNC');
    const access = await token(service.http, service.credentials);
    expect((await tryApplication(service.http, access)).status).toBe(201);
    service.fail();
    await expectUnavailable(await tryApplication(service.http, access));
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(service.stderr()).toContain('"the store failed');
    expectOnlyLog(service);
  });
});

/** Sends a request without the end of its body. @returns a function that sends the end and returns the response */
async function hold(url: string, headers: Record<string, string>, body: string): Promise<() => Promise<string>> {
  const sent = request(url, { method: 'POST', headers: { ...headers, 'content-length': body.length } });
  const received = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject);
  });
  received.catch(() => {});
  await new Promise((resolve) => void sent.write(body.slice(0, -1), resolve));
  return async () => {
    sent.end(body.slice(-1));
    const response = await received;
    return `${response.statusCode} ${(await response.toArray()).join('')}`;
  };
}

needing('g++').test.each(['accounts', 'usage'])(
  'after a permanent failure of the %s store, requests that read the store get 503 until the service ends',
  async (store) => {
    const service = await startOnFailingDisk('FAILING_META');
    const { http, credentials } = service;
    const { application, key } = await openShop(http, credentials);
    const access = await token(http, credentials);
    const backend = await createKey(http, access, application, 'Backend');
    const json = { authorization: `Bearer ${access}`, 'content-type': 'application/json' };
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const ends = [
      await hold(`http://${http}/api/frontend/identities`, { ...json, authorization: backend.key }, '{"identity":"7"}'),
      await hold(`http://${http}/api/v2/applications/${application}/features`, json, '{"name":"new"}'),
      await hold(
        `http://${http}/connect/introspect`,
        { ...form, authorization: basic(credentials) },
        `token=${access}`,
      ),
    ];
    service.fail();
    if (store === 'accounts') await expectUnavailable(await tryApplication(http, access));
    else {
      expect(await sendCheck(http, key, 'kept in the journal')).toBe(202);
      await expect(readChecks(http, { credentials, application })).rejects.toThrow('answered 503');
    }
    // After the failure, the process serves for less than a second. On a busy machine, it ends before the requests end.
    const responses = await Promise.all(ends.map((end) => end().catch(() => undefined)));
    const received = responses.filter((response) => response !== undefined);
    for (const response of received) expect(response).toMatch(/^(200|503) /);
    if (received.length === ends.length) expect(received.join()).toContain('"code":"store_unavailable"');
    expect((await service.exit).code).toBe(1);
    expectOnlyLog(service);
  },
);

function basic({ clientId, clientSecret }: Credentials): string {
  return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
}

/** Checks that standard error contains only JSON log lines, and no other output such as unhandled rejections. */
function expectOnlyLog(service: StartedProcess): void {
  const lines = service.stderr().split('\n');
  expect(lines.pop()).toBe('');
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ time: expect.any(String) });
}

describe.runIf(canMount())('a full disk', () => {
  test('management API changes on a full disk get 503 until there is space, and SIGTERM ends the process with code 0', async () => {
    const service = await prepareOnSmallDisk();
    const access = await token(service.http, service.credentials);
    service.fill();
    let response = await tryApplication(service.http, access);
    while (response.status === 201) response = await tryApplication(service.http, access);
    await expectUnavailable(response);
    await expectUnavailable(await tryApplication(service.http, access));
    expect(await isReady(service.http)).toBe(503);

    service.free();
    while ((await isReady(service.http)) !== 200) await pause(50);
    expect((await tryApplication(service.http, access)).status).toBe(201);
    service.kill('SIGTERM');
    expect(await service.exit).toEqual({ code: 0, signal: null });
    expectOnlyLog(service);
  });

  test('SIGTERM ends a process on a full disk with code 0', async () => {
    const service = await prepareOnSmallDisk();
    const shop = await openShop(service.http, service.credentials);
    const access = await token(service.http, service.credentials);
    expect(await sendCheck(service.http, shop.key, 'use')).toBe(202); // The shutdown writes the use of this key.
    service.fill();
    let response = await tryApplication(service.http, access);
    while (response.status === 201) response = await tryApplication(service.http, access);
    service.kill('SIGTERM');
    expect(await service.exit).toEqual({ code: 0, signal: null });
    expectOnlyLog(service);
  });

  test('packets on a full disk get 503 until there is space, and no accepted packet is lost', async () => {
    const service = await prepareOnSmallDisk();
    const shop = await openShop(service.http, service.credentials);
    expect(await sendCheck(service.http, shop.key, 'before')).toBe(202);

    service.fill();
    const accepted = await sendUntilFull(service.http, shop.key);
    expect(await isReady(service.http)).toBe(503);
    expect(await sendCheck(service.http, shop.key, 'refused')).toBe(503);

    service.free();
    while ((await isReady(service.http)) !== 200) await pause(50);
    // Different threads can serve these connections.
    const after = Array.from({ length: 12 }, () => sendCheck(service.http, shop.key, 'after'));
    expect(new Set(await Promise.all(after))).toEqual(new Set([202]));
    const checks = await readChecks(service.http, shop);
    expect(checks.get('before')).toBe(1);
    expect(checks.get('after')).toBe(after.length);
    expect(checks.has('refused')).toBe(false);
    const filling = [...checks].filter(([feature]) => feature.startsWith('filling-'));
    expect(filling.reduce((sum, [, count]) => sum + count, 0)).toBe(accepted);
    expect(service.stderr()).toContain('the disk is full');
    service.kill('SIGTERM');
    expect((await service.exit).code).toBe(0);
    expectOnlyLog(service);
  });
});
