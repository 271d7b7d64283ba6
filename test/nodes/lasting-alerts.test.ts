import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { openUsageTables } from '../../src/storage/lmdb/usage.ts';
import { type Fault, findOpsAddress, ops, testAtOnce } from '../support/alerting.ts';
import {
  type Binary,
  createApplication,
  freshDirectory,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { opened } from '../support/opened.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { Prometheus } from '../support/prometheus.ts';
import { openShop, sendCheck } from '../support/shop.ts';

/** Tests of alerts that fire after a minute or two. `npm run test:alerts` runs these tests, and CI does not. */

const longMs = 200_000;
const { describe } = needing('prometheus', 'postgresql');

describe('the alerts that fire after a minute or two', () => {
  const audit = join(freshDirectory(), 'audit');
  const backups = join(freshDirectory(), 'backups');
  const database = opened(() => Postgres.start());
  let node: Binary;
  let nodeKey: string;
  let single: Binary;
  let credentials: Awaited<ReturnType<typeof prepare>>;
  let key: string;
  let prometheus: Prometheus;
  const closing: (() => unknown)[] = [];

  beforeAll(async () => {
    const postgresUrl = await database.database();
    const ofPostgres = await preparePostgres(postgresUrl);
    const urls = ['--auth-url', 'https://auth.example', '--base-url', 'https://api.example'];
    node = await startBinary({ args: ['--postgres', postgresUrl, ...ops, ...urls] });
    ({ key: nodeKey } = await openShop(node.http, ofPostgres));
    const data = join(freshDirectory(), 'data');
    credentials = await prepare(data);
    const copies = ['--audit-export', audit, '--backup-every', '1m', '--backup-to', backups];
    single = await startBinary({ data, args: [...ops, ...copies] });
    ({ key } = await openShop(single.http, credentials));
    prometheus = await Prometheus.start([node, single].map(findOpsAddress));
  });

  afterAll(async () => {
    for (const close of closing) await close();
    await prometheus?.close();
    for (const each of [node, single]) if (each !== undefined) await stop(each, 'SIGKILL');
  });

  const faults: readonly Fault[] = [
    {
      what: 'a PostgreSQL that is away',
      alerts: ['FlagmeterEngineAway', 'FlagmeterNotManaging', 'FlagmeterSpoolWaits', 'FlagmeterReportsBehind'],
      target: () => findOpsAddress(node),
      provoke: () => database.stop(),
      goOn: () => sendCheck(node.http, nodeKey, 'checkout'),
    },
    {
      what: 'a process that reads one state of a store forever',
      alerts: ['FlagmeterOldReader'],
      target: () => findOpsAddress(single),
      async provoke() {
        const store = openUsageTables(single.data);
        const reading = store.lmdb.useReadTransaction();
        closing.push(
          () => reading.done(),
          () => store.lmdb.close(),
        );
      },
      goOn: () => sendCheck(single.http, key, 'checkout'),
    },
    {
      what: 'an audit log directory that is not writable',
      alerts: ['FlagmeterAuditExportFails'],
      target: () => findOpsAddress(single),
      async provoke() {
        const file = join(audit, `audit-${new Date().toISOString().slice(0, 10)}.ndjson`);
        rmSync(file, { force: true });
        mkdirSync(file); // The file cannot be written, because a directory has its name.
        await createApplication(single.http, await token(single.http, credentials), { name: 'another' });
      },
    },
    {
      what: 'backups that cannot be kept',
      alerts: ['FlagmeterBackupFails', 'FlagmeterBackupOld'],
      target: () => findOpsAddress(single),
      async provoke() {
        rmSync(backups, { recursive: true, force: true });
        writeFileSync(backups, 'no directory');
      },
    },
  ];

  testAtOnce(() => prometheus, faults, longMs);
});
