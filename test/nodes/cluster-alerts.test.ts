import { afterAll, beforeAll } from 'vitest';
import { expectAlerts, type Fault, findOpsAddress, ops } from '../support/alerting.ts';
import { type Binary, startBinary, stop } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { Prometheus } from '../support/prometheus.ts';
import { openShop, sendCheck } from '../support/shop.ts';

/** Tests of alerts about several machines. The alerts of one machine are in test/binary/alerts.test.ts. */

const { describe, test } = needing('prometheus', 'postgresql');

describe('the alerts of several machines', () => {
  let database: Postgres;
  let postgresUrl: string;
  let one: Binary;
  let two: Binary;
  let key: string;
  let prometheus: Prometheus;

  const startNode = (name: string) =>
    startBinary({ args: ['--postgres', postgresUrl, '--node-name', name, ...ops, ...urls] });
  const urls = ['--auth-url', 'https://auth.example', '--base-url', 'https://api.example'];

  beforeAll(async () => {
    database = await Postgres.start();
    postgresUrl = await database.database();
    const credentials = await preparePostgres(postgresUrl);
    [one, two] = await Promise.all([startNode('one'), startNode('two')]);
    ({ key } = await openShop(one.http, credentials));
    prometheus = await Prometheus.start([one, two].map(findOpsAddress));
  });

  afterAll(async () => {
    await prometheus?.close();
    for (const each of [one, two]) if (each !== undefined) await stop(each, 'SIGKILL');
  });

  /** Appends entries to the log as a node does. */
  const append = (count: number, kind: string, body: Buffer) =>
    database.query(
      `WITH head AS (UPDATE fm_head SET position = position + $1, id = 7 WHERE log = 'data' RETURNING position)
       INSERT INTO fm_entry (position, id, kind, stream, seq, body)
       SELECT position - $1 + n, 7, $2, 'another', n, $3 FROM head, generate_series(1, $1::int) AS n`,
      [count, kind, body],
      postgresUrl,
    );

  const faults: readonly Fault[] = [
    {
      what: 'a delta that cannot be read',
      alerts: ['FlagmeterRowsRefused'],
      target: () => findOpsAddress(one),
      provoke: () => append(1, 'delta', Buffer.of(1, 0xc1, 0xff)),
    },
    {
      what: 'a node that was killed',
      alerts: ['FlagmeterDown', 'FlagmeterNodeSilent'],
      target: () => findOpsAddress(two),
      async provoke() {
        await sendCheck(two.http, key, 'checkout');
        await stop(two, 'SIGKILL');
      },
    },
    {
      what: 'a log that a node cannot follow',
      alerts: ['FlagmeterLogLag'],
      target: () => findOpsAddress(one),
      provoke: () => append(1100, 'of a later version', Buffer.of(1)),
    },
  ];

  test.each(faults.map((fault) => [fault.what, fault] as const))(
    'the alerts of Prometheus report %s',
    (_, fault) => expectAlerts(prometheus, fault),
    60_000,
  );
});
