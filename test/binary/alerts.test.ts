import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { type Fault, findOpsAddress, ops, testAtOnce } from '../support/alerting.ts';
import {
  type Binary,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { damagePage, pagesIn } from '../support/damage.ts';
import { failingDisk } from '../support/failing-disk.ts';
import { canMount } from '../support/mount.ts';
import { needing } from '../support/needing.ts';
import { openSender } from '../support/packet-sender.ts';
import { freePort } from '../support/postgres-program.ts';
import { Prometheus } from '../support/prometheus.ts';
import { startSecured } from '../support/secured.ts';
import { openShop, type Shop, sendCheck } from '../support/shop.ts';
import { type OnResizableDisk, startOnResizableDisk } from '../support/small-disk.ts';

/**
 * Faults of the executable change its metrics until the alerts of docs/alerts fire in a real Prometheus, which scrapes
 * each second. The alerts fire without their usual delay here; test/docs/alerts.test.ts checks the delays.
 */

interface FaultScene extends Shop {
  readonly service: Binary;
}

async function startKept(args: readonly string[], env: Record<string, string> = {}): Promise<FaultScene> {
  const data = join(freshDirectory(), 'data');
  const credentials = await prepare(data);
  const service = await startBinary({ data, args: [...ops, ...args], env });
  return { service, ...(await openShop(service.http, credentials)) };
}

/** Starts a service whose disk becomes slow on request. */
async function startSlow() {
  const { env, fail } = failingDisk('SLOW_SYNC');
  return { ...(await startKept([], env)), slow: fail };
}

async function restarting(port: number) {
  const data = join(freshDirectory(), 'data');
  let service = await start();
  async function start() {
    return startBinary({ data, args: ['--ops-listen', `127.0.0.1:${port}`] });
  }
  return async () => {
    await stop(service, 'SIGKILL');
    service = await start();
  };
}

/** Starts a service whose usage store can be damaged and then read. */
async function startDamaged() {
  const kept = await startKept([]);
  const { service, credentials, application } = kept;
  const file = join(service.data, 'usage', 'data.mdb');
  const ask = async () => {
    const authorization = `Bearer ${await token(service.http, credentials)}`;
    const path = `/api/v2/applications/${application}/usage?environment=Production&step=hour`;
    await fetch(`http://${service.http}${path}`, { headers: { authorization } });
  };
  return {
    ...kept,
    damage() {
      // The last bytes of each page belong to a value.
      const junk = Buffer.alloc(12, 0xff);
      for (const page of pagesIn(file).get('leaf')!) damagePage(file, page, 4096 - junk.length, junk);
    },
    ask,
  };
}

/**
 * Starts a service whose journal is not folded while the test holds the write lock of the store. Also sends it large
 * packets.
 */
async function startUnfolded() {
  const kept = await startKept(['--rate', '0']);
  const { service, key } = kept;
  const features = Array.from({ length: 900 }, (_, at) => [`feature-${at}`, { on: [1] }]);
  const packet = { k: key, e: 'Production', f: Object.fromEntries(features) };
  let release = () => {};
  return {
    service,
    release: () => release(),
    hold() {
      const { lmdb } = openUsageTables(service.data);
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      void lmdb.transactionSync(() => released);
    },
    async send() {
      const sender = openSender(service.http);
      for (let sent = 0; sent < 60; sent += 1) expect(await sender.send(packet)).toBe(202);
      sender.close();
    },
  };
}

needing('g++', 'openssl', 'prometheus').describe('alerts of a single machine', () => {
  let slow: Awaited<ReturnType<typeof startSlow>>;
  let plain: FaultScene;
  let busy: FaultScene;
  let damaged: Awaited<ReturnType<typeof startDamaged>>;
  let unfolded: Awaited<ReturnType<typeof startUnfolded>>;
  let secured: Awaited<ReturnType<typeof startSecured>>;
  let disk: OnResizableDisk | undefined;
  let restart: () => Promise<void>;
  let restartPort: number;
  let prometheus: Prometheus;

  beforeAll(async () => {
    restartPort = await freePort();
    [slow, plain, busy, damaged, unfolded, secured, disk, restart] = await Promise.all([
      startSlow(),
      startKept(['--webhook-allow-private', '--api-rate', '0']),
      startKept([]),
      startDamaged(),
      startUnfolded(),
      startSecured(),
      canMount() ? startOnResizableDisk('4g', ops) : undefined,
      restarting(restartPort),
    ]);
    const services = [slow, plain, busy, damaged, unfolded, secured].map(({ service }) => service);
    const targets = [...services, ...(disk ? [disk] : [])].map(findOpsAddress);
    prometheus = await Prometheus.start([...targets, `127.0.0.1:${restartPort}`]);
  });

  afterAll(async () => {
    await prometheus?.close();
    unfolded?.release();
    disk?.kill('SIGKILL');
  });

  const unknownKeys = () =>
    Promise.all(Array.from({ length: 20 }, () => sendCheck(plain.service.http, 'unknown', 'checkout')));

  const unknownEnvironment = async () => {
    const sender = openSender(plain.service.http);
    for (let sent = 0; sent < 20; sent += 1)
      await sender.send({ k: plain.key, e: 'Nowhere', f: { checkout: { on: [1] } } });
    sender.close();
  };

  /** Stops the process most of the time, as if other processes used the processor. */
  const standStill = async () => {
    busy.service.kill('SIGSTOP');
    await pause(500);
    busy.service.kill('SIGCONT');
    await pause(30);
  };

  const onDisk: readonly Fault[] = [
    {
      what: 'a disk that fills up and is full',
      alerts: ['FlagmeterDiskFillsUp', 'FlagmeterDiskAlmostFull', 'FlagmeterCommitsFail', 'FlagmeterNotReady'],
      target: () => findOpsAddress(disk!),
      async provoke() {
        for (const size of ['3g', '2g', '1g', '60m']) {
          disk!.resize(size);
          await pause(1200);
        }
        disk!.fill();
      },
      goOn: () => sendCheck(disk!.http, disk!.key, 'checkout'),
    },
  ];

  const faults: readonly Fault[] = [
    {
      what: 'a slow disk',
      alerts: ['FlagmeterCommitsSlow', 'FlagmeterChangesSlow', 'FlagmeterRequestsSlow'],
      target: () => findOpsAddress(slow.service),
      provoke: async () => slow.slow(),
      goOn: () =>
        Promise.all([
          sendCheck(slow.service.http, slow.key, 'checkout'),
          openShop(slow.service.http, slow.credentials),
        ]),
    },
    {
      what: 'packets with a key that was revoked',
      alerts: ['FlagmeterRefusesMuch'],
      target: () => findOpsAddress(plain.service),
      provoke: () => sendCheck(plain.service.http, plain.key, 'checkout'),
      goOn: unknownKeys,
    },
    {
      what: 'a Backend key in a packet, an environment that does not exist, and an API key that expires soon',
      alerts: ['FlagmeterSendersRefused', 'FlagmeterKeyLeaked', 'FlagmeterApiKeysExpire'],
      target: () => findOpsAddress(plain.service),
      async provoke() {
        const { service, credentials, application } = plain;
        const access = await token(service.http, credentials);
        const { key } = await createKey(service.http, access, application, 'Backend');
        await sendCheck(service.http, key, 'checkout');
        const expiresAt = new Date(Date.now() + 5 * 86_400_000).toISOString();
        const path = `/api/v2/teams/${credentials.teamId}/api-keys`;
        await manage(service.http, access, 'POST', path, 201, { name: 'ci', expiresAt });
      },
      goOn: unknownEnvironment,
    },
    {
      what: 'a receiver of webhooks that is gone',
      alerts: ['FlagmeterWebhooksFail', 'FlagmeterWebhooksWait'],
      target: () => findOpsAddress(plain.service),
      async provoke() {
        const { service, credentials } = plain;
        const access = await token(service.http, credentials);
        const path = `/api/v2/teams/${credentials.teamId}/webhooks`;
        const wanted = { name: 'Chat', url: 'http://127.0.0.1:1/', events: ['member.changed'] };
        await manage(service.http, access, 'POST', path, 201, wanted);
        const member = { name: 'Ada', email: 'ada@example.com' };
        const user = (await manage(service.http, access, 'POST', '/api/v2/users', 201, member)) as { id: string };
        const rename = (name: string) =>
          manage(service.http, access, 'PATCH', `/api/v2/users/${user.id}`, 200, { name });
        for (let changes = 0; changes < 550; changes += 1) await rename(`Ada ${changes}`);
      },
    },
    {
      what: 'a thread that has too little of the processor',
      alerts: ['FlagmeterThreadLate'],
      target: () => findOpsAddress(busy.service),
      provoke: standStill,
      async goOn() {
        for (let times = 0; times < 4; times += 1) await standStill();
      },
    },
    {
      what: 'a store that is damaged',
      alerts: ['FlagmeterRequestsFail'],
      target: () => findOpsAddress(damaged.service),
      async provoke() {
        await sendCheck(damaged.service.http, damaged.key, 'checkout');
        await damaged.ask(); // The report folds the journal first. Otherwise a later fold would overwrite the damage.
        damaged.damage();
      },
      goOn: () => damaged.ask(),
    },
    {
      what: 'a store whose write lock another process holds',
      alerts: ['FlagmeterJournalGrows'],
      target: () => findOpsAddress(unfolded.service),
      async provoke() {
        unfolded.hold();
        await unfolded.send();
      },
    },
    {
      what: 'a certificate that was not renewed',
      alerts: ['FlagmeterCertificateExpires'],
      target: () => findOpsAddress(secured.service),
      async provoke() {
        secured.make(10);
        secured.service.kill('SIGHUP');
      },
    },
    {
      what: 'a process that ends again and again',
      alerts: ['FlagmeterRestarts'],
      target: () => `127.0.0.1:${restartPort}`,
      provoke: restart3,
    },
    ...(canMount() ? onDisk : []),
  ];

  async function restart3() {
    for (let times = 0; times < 3; times += 1) {
      await restart();
      await pause(1500); // Prometheus scrapes the metrics each second.
    }
  }

  testAtOnce(() => prometheus, faults);
});
