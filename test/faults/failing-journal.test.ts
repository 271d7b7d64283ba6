import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { freshDirectory, startBinary, stop } from '../support/binary.ts';
import { acceptIdentities, ExactLoad } from '../support/exact-load.ts';
import { type DiskFault, startOnFailingDisk } from '../support/failing-disk.ts';
import { canMount } from '../support/mount.ts';
import { needing } from '../support/needing.ts';
import { copyPrepared } from '../support/prepared.ts';
import { openShop } from '../support/shop.ts';
import { prepareOnSmallDisk } from '../support/small-disk.ts';

const senders = Array.from({ length: 8 }, (_, at) => at);

/** Starts a server under load. Its disk fails after some packets of each sender were accepted. */
async function failUnderLoad(fault: DiskFault) {
  const service = await startOnFailingDisk(fault);
  const shop = await openShop(service.http, service.credentials);
  await acceptIdentities(service.http, shop);
  const load = new ExactLoad();
  const accepted = senders.map(() => 0);
  const goOn = (at: number) => (status: number | undefined) => {
    accepted[at]! += Number(status === 202);
    if (Math.min(...accepted) === 5) service.fail();
    return status === 202;
  };
  const last = Promise.all(
    senders.map((at) => load.send(service, shop, `feature-${at}`, at < 2 ? undefined : `user-${at}`, goOn(at))),
  );
  return { service, shop, load, last };
}

const withFaults = needing('g++');

withFaults.describe.each<[DiskFault, RegExp]>([
  ['FAILING_FRAME', /segment at offset \d+: EIO: [^"]*\. The frame was refused/],
  ['SHORT_FRAME', /segment at offset \d+: \d+ of \d+ bytes were written\. The frame was refused/],
  ['FAILING_FLUSH', /segment at offset \d+: EIO: [^"]*\. The frame was refused/],
  ['FAILING_FLUSHES', /segment at offset \d+: EIO: [^"]*\. The frame was refused/],
])('a journal with the fault %s', (fault, said) => {
  test('every sender of a batch gets 503 after a failed write, and no later startup counts the batch', async () => {
    const { service, shop, load, last } = await failUnderLoad(fault);
    const statuses = await last;
    expect(statuses).toContain(503);
    for (const status of statuses) expect([503, undefined]).toContain(status);
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(service.stderr()).toMatch(said);
    expect(service.stderr()).toContain('"the store failed: stopping"');
    const again = await startBinary({ data: service.data });
    expect(load.faults(await load.read(again.http, shop))).toEqual([]);
    expect(await stop(again)).toEqual({ code: 0, signal: null });
  });
});

withFaults.test(
  'the log says that the next startup might count the frame if all flushes of the journal fail',
  async () => {
    const { service, shop, load, last } = await failUnderLoad('FAILING_LANE');
    for (const status of await last) expect([503, undefined]).toContain(status);
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(service.stderr()).toMatch(/segment at offset \d+: EIO: [^"]*\. The next start can still count the frame/);
    const again = await startBinary({ data: service.data });
    load.doubtRefused();
    expect(load.faults(await load.read(again.http, shop))).toEqual([]);
    expect(await stop(again)).toEqual({ code: 0, signal: null });
  },
);

withFaults.test(
  'a server without space for a frame responds with 503, reports the reason in /readyz, and recovers',
  async () => {
    const { service, shop, load, last } = await failUnderLoad('FULL_FRAME');
    expect(new Set(await last)).toEqual(new Set([503]));
    const ready = await fetch(`http://${service.http}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain('the store does not accept data; see the log');
    expect(service.stderr()).toContain('the disk is full: responding with 503');
    service.recover();
    while ((await fetch(`http://${service.http}/readyz`)).status !== 200) await pause(50);
    let left = 30;
    const goOn = () => {
      left -= 1;
      return left > 0;
    };
    expect(await load.send(service, shop, 'after', 'user-after', goOn)).toBe(202);
    expect(load.faults(await load.read(service.http, shop))).toEqual([]);
    service.kill('SIGKILL');
    await service.exit;
    const again = await startBinary({ data: service.data });
    expect(load.faults(await load.read(again.http, shop))).toEqual([]);
    expect(await stop(again)).toEqual({ code: 0, signal: null });
  },
);

test('a server without a free file descriptor responds with 503 until a file can be opened, and loses nothing', async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await copyPrepared(data);
  const service = await startBinary({ data });
  const shop = await openShop(service.http, credentials);
  const load = new ExactLoad();
  const accepted = new Set<number>();
  const goOn = (at: number) => (status: number | undefined) => {
    if (status === 202 && accepted.add(at).size === senders.length) limitFiles(service.pid, 3);
    return status === 202;
  };
  // The server can also close connections for lack of descriptors. Their status is then `undefined`.
  const last = await Promise.all(senders.map((at) => load.send(service, shop, `during-${at}`, undefined, goOn(at))));
  for (const status of last) expect([503, undefined]).toContain(status);
  await expect.poll(() => service.stderr()).toContain('too many files are open: responding with 503');
  limitFiles(service.pid, 1024);
  while ((await fetch(`http://${service.http}/readyz`)).status !== 200) await pause(50);
  expect(service.stderr()).toContain('files can be opened again: accepting data');
  let left = 60; // Number of packets. The first segment cannot hold them all.
  const untilEnough = () => {
    left -= 1;
    return left > 0;
  };
  expect(await load.send(service, shop, 'after', undefined, untilEnough)).toBe(202);
  expect(load.faults(await load.read(service.http, shop))).toEqual([]);
  service.kill('SIGKILL');
  await service.exit;
  const again = await startBinary({ data: service.data });
  expect(load.faults(await load.read(again.http, shop))).toEqual([]);
  expect(await stop(again)).toEqual({ code: 0, signal: null });
});

/** Changes the maximum number of open files of a process. Open files stay open. */
function limitFiles(pid: number, files: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);
}

test.runIf(canMount())(
  'a server without space for a spare segment or a fold responds with 503, recovers, and loses nothing',
  async () => {
    const service = await prepareOnSmallDisk();
    const shop = await openShop(service.http, service.credentials);
    await acceptIdentities(service.http, shop);
    const load = new ExactLoad();
    expect(await load.send(service, shop, 'before', 'user-before', () => false)).toBe(202);
    service.fill();
    const last = senders.map((at) => load.send(service, shop, `full-${at}`, at < 4 ? undefined : `user-${at}`));
    expect(new Set(await Promise.all(last))).toEqual(new Set([503]));
    expect((await fetch(`http://${service.http}/readyz`)).status).toBe(503);
    expect(service.stderr()).toContain('the disk is full: responding with 503');

    service.free();
    while ((await fetch(`http://${service.http}/readyz`)).status !== 200) await pause(50);
    let left = 60; // Number of packets. The first segment cannot hold them all.
    const goOn = () => {
      left -= 1;
      return left > 0;
    };
    expect(await load.send(service, shop, 'after', undefined, goOn)).toBe(202);
    expect(load.faults(await load.read(service.http, shop))).toEqual([]);
    expect(await stop(service)).toEqual({ code: 0, signal: null });
  },
);
