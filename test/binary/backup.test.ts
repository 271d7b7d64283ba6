import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  type Binary,
  binaryPath,
  createApplication,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
  usage,
} from '../support/binary.ts';
import { enlarge } from '../support/large-store.ts';
import { canMount } from '../support/mount.ts';
import { openSender } from '../support/packet-sender.ts';
import { runBinary, runProgram } from '../support/run-binary.ts';

async function openShop(service: Binary, credentials: Awaited<ReturnType<typeof prepare>>) {
  const access = await token(service.http, credentials);
  const application = await createApplication(service.http, access, { name: 'Shop' });
  const { key } = await createKey(service.http, access, application, 'Frontend');
  return { access, application, key };
}

/** Changes an account and sends a packet alternately until stopped. Each request waits for the previous response. */
function writeBoth(http: string, { access, application, key }: Awaited<ReturnType<typeof openShop>>) {
  const sender = openSender(http);
  let isOver = false;
  let done = 0;
  const path = `/api/v2/applications/${application}/features`;
  const ended = (async () => {
    for (; !isOver; done += 1) {
      await manage(http, access, 'POST', path, 201, { name: `feature-${done}` });
      const packet = { k: key, e: 'Production', f: { counted: { on: [1] } } };
      expect(await sender.send(packet)).toBe(202);
    }
    sender.close();
  })();
  return {
    done: () => done,
    end: () => {
      isOver = true;
      return ended;
    },
  };
}

async function readCounts(data: string, credentials: Awaited<ReturnType<typeof prepare>>, application: string) {
  const service = await startBinary({ data });
  const access = await token(service.http, credentials);
  const path = `/api/v2/applications/${application}/features?limit=200`;
  let changes = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = (await manage(
      service.http,
      access,
      'GET',
      cursor === '' ? path : `${path}&cursor=${cursor}`,
      200,
    )) as { items: { name: string; declared: boolean }[]; nextCursor: string | null };
    changes += page.items.filter(({ declared }) => declared).length;
    cursor = page.nextCursor;
  }
  const to = new Date(Date.now() + 60_000);
  const query = { environment: 'Production', from: new Date(to.getTime() - 86_400_000), to, step: 'day' } as const;
  const report = await usage(service.http, access, application, query);
  await stop(service);
  return { changes, packets: report.features.find(({ feature }) => feature === 'counted')?.checks ?? 0 };
}

test('a backup of a busy server has all data acknowledged before the backup, and accounts no older than usage', async () => {
  const directory = freshDirectory();
  const data = join(directory, 'data');
  const credentials = await prepare(data);
  const service = await startBinary({ data, args: ['--api-rate', '0'] });
  const shop = await openShop(service, credentials);
  const writing = writeBoth(service.http, shop);
  const answered: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    await expect.poll(writing.done).toBeGreaterThan(20 * round);
    answered.push(writing.done());
    const { code, stderr } = await runBinary(['backup', '--data', data, '--to', join(directory, `${round}`)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('has the state of') });
  }
  await writing.end();
  await stop(service);
  for (const [round, before] of answered.entries()) {
    const file = join(directory, `${round}`);
    expect(await runBinary(['verify', file])).toMatchObject({ code: 0 });
    const target = join(directory, `restored-${round}`);
    expect(await runBinary(['restore', '--from', file, '--data', target])).toMatchObject({ code: 0 });
    const { changes, packets } = await readCounts(target, credentials, shop.application);
    expect(packets).toBeGreaterThanOrEqual(before);
    expect(changes).toBeGreaterThanOrEqual(packets);
  }
});

async function readerLag(http: string): Promise<number> {
  const metrics = await (await fetch(`http://${http}/metrics`)).text();
  return Number(/^flagmeter_oldest_reader_commits\{store="usage"\} (\d+)$/m.exec(metrics)?.[1]);
}

test('a killed backup leaves no open read transaction behind', async () => {
  const data = join(freshDirectory(), 'data');
  const credentials = await prepare(data);
  // The backup is larger than the buffer of the pipe, so it blocks until the pipe is read.
  await enlarge(data, 5e6);
  const service = await startBinary({ data });
  const { key } = await openShop(service, credentials);
  const sender = openSender(service.http);
  const send = () => sender.send({ k: key, e: 'Production', f: { counted: { on: [1] } } });
  expect(await send()).toBe(202);
  const backup = spawn(binaryPath, ['backup', '--data', data, '--to', '-'], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) => backup.stdout.once('readable', resolve));
  expect(await send()).toBe(202);
  // The lag appears after the next fold, and the metrics can be a second old.
  await vi.waitFor(async () => expect(await readerLag(service.http)).toBeGreaterThan(0));
  const ended = new Promise((resolve) => backup.once('exit', resolve));
  backup.kill('SIGKILL');
  await ended;
  expect(await send()).toBe(202);
  await vi.waitFor(async () => expect(await readerLag(service.http)).toBe(0));
  sender.close();
  await stop(service);
});

test.runIf(canMount())(
  'a backup on a full disk leaves the previous backup unchanged, and the server continues',
  async () => {
    const directory = freshDirectory();
    const disk = join(directory, 'disk');
    mkdirSync(disk);
    const data = join(directory, 'data');
    await prepare(data);
    const service = await startBinary({ data });
    const script = `mount -t tmpfs -o size=1m none "${disk}" && echo before >"${disk}/backup"
    "${binaryPath}" backup --data "${data}" --to "${disk}/backup"; echo code $?; ls "${disk}"; cat "${disk}/backup"`;
    const { stdout, stderr } = await runProgram('unshare', ['--mount', '--map-root-user', 'sh', '-c', script]);
    expect(stdout).toBe('code 1\nbackup\nbefore\n');
    expect(stderr).toContain(`Cannot write ${disk}/backup: no space left on device`);
    expect((await fetch(`http://${service.http}/readyz`)).status).toBe(200);
    await stop(service);
  },
);

test('restore refuses a directory in use, and backup refuses the directory of a PostgreSQL node', async () => {
  const service = await startBinary();
  const file = join(freshDirectory(), 'backup');
  expect(await runBinary(['backup', '--data', service.data, '--to', file])).toMatchObject({ code: 0 });
  expect(await runBinary(['restore', '--from', file, '--data', service.data])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is using it'),
  });
  const env = { FLAGMETER_POSTGRES: 'postgres://flagmeter@127.0.0.1:1/flagmeter' };
  expect(await runBinary(['backup', '--data', service.data, '--to', file], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Cannot back up a node of several machines: back up PostgreSQL'),
  });
  await stop(service);
  expect(await runBinary(['restore', '--from', file, '--data', service.data])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('it has data'),
  });
});
