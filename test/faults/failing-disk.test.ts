import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { freshDirectory, type StartedProcess, startBinary, token } from '../support/binary.ts';
import { type DiskFault, failingDisk, startOnFailingDisk } from '../support/failing-disk.ts';
import { needing } from '../support/needing.ts';
import { openSender } from '../support/packet-sender.ts';
import { openShop, readChecks, tryApplication } from '../support/shop.ts';

const { test } = needing('g++');

const bun = fileURLToPath(new URL('../../node_modules/.bin/bun', import.meta.url));
const program = fileURLToPath(new URL('failed-commit-process.ts', import.meta.url));

/** Returns the results of two commits and a read after the fault. Freed memory is overwritten, so using it is fatal. */
async function goOnAfter(fault: DiskFault): Promise<unknown> {
  const disk = failingDisk(fault);
  const child = spawn(bun, [program, freshDirectory()], {
    env: { ...process.env, ...disk.env, MALLOC_PERTURB_: '165' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  disk.fail();
  child.stdin.end('\n');
  const printed = (await child.stdout.toArray()).join('');
  expect(await exited).toEqual([0, null]);
  return JSON.parse(printed);
}

test('a store rejects every commit and read after a failed write of a meta page', async () => {
  const panic = expect.stringContaining('MDB_PANIC');
  expect(await goOnAfter('FAILING_META')).toEqual(['Input/output error', panic, panic]);
});

/** Number of concurrent senders of packets and callers of the management API. */
const senders = 28;
const callers = 4;

/** Sends packets and creates applications until the service has ended. @returns accepted packets by sender */
async function load(service: StartedProcess, key: string, access: string, begun: () => void): Promise<number[]> {
  const accepted = Array.from({ length: senders }, () => 0);
  let applications = 0;
  const send = async (at: number) => {
    const sender = openSender(service.http);
    const packet = { k: key, e: 'Production', u: `user-${at}`, f: { [`feature-${at}`]: { on: [1] } } };
    for (let status: unknown = 202; status !== undefined; ) {
      status = await sender.send(packet);
      if (status === 202) accepted[at] = accepted[at]! + 1;
      if (Math.min(...accepted) >= 5 && applications >= 5) begun();
    }
    sender.close();
  };
  const create = async (at: number) => {
    for (let status: unknown = 201; status !== undefined; ) {
      const name = `application ${at} ${applications}`;
      status = await tryApplication(service.http, access, name).then(
        (response) => response.status,
        () => undefined,
      );
      applications += 1;
    }
  };
  await Promise.all([...accepted.map((_, at) => send(at)), ...Array.from({ length: callers }, (_, at) => create(at))]);
  return accepted;
}

test.each<DiskFault>(['FAILING_META', 'FAILING_DATA', 'FAILING_SYNC'])(
  'a service under load exits with code 1 after the fault %s, and keeps accepted packets',
  async (fault) => {
    const service = await startOnFailingDisk(fault);
    const { credentials, data } = service;
    const shop = await openShop(service.http, credentials);
    const access = await token(service.http, credentials);
    const accepted = await load(service, shop.key, access, service.fail);
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(service.stderr()).toContain('"the store failed: stopping"');
    for (const line of service.stderr().split('\n').slice(0, -1)) JSON.parse(line);

    const again = await startBinary({ data });
    const checks = await readChecks(again.http, shop);
    for (const [at, count] of accepted.entries()) {
      const kept = checks.get(`feature-${at}`);
      expect(kept).toBeGreaterThanOrEqual(count);
      expect(kept).toBeLessThanOrEqual(count + 1);
    }
    again.kill('SIGTERM');
    expect((await again.exit).code).toBe(0);
  },
);
