import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Binary,
  createApplication,
  createKey,
  freshDirectory,
  manage,
  startBinary,
  stop,
  token,
  usage,
} from '../support/binary.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparedDatabase } from '../support/prepare-postgres.ts';
import { encode } from '../support/report-messages.ts';

/** Two nodes, and a PostgreSQL role that may only read the views. */

const often = { interval: 250 };
const dayMs = 86_400_000;
const today = new Date(Math.floor(Date.now() / dayMs) * dayMs);
const yesterday = new Date(today.getTime() - dayMs);

let database: Postgres;
let postgresUrl: string;
let reader: string;
const nodes: Binary[] = [];
let bearer: string;
let application: string;
let key: string;

needing('postgresql').describe('the usage by days in SQL', () => {
  beforeAll(async () => {
    database = await Postgres.start();
    const { url, credentials } = await preparedDatabase(database);
    postgresUrl = url;
    for (const name of ['one', 'two'])
      nodes.push(
        await startBinary({
          data: join(freshDirectory(), name),
          args: ['--postgres', postgresUrl, '--node-name', name, '--auth-url', 'https://a.example'],
        }),
      );
    bearer = await token(nodes[0]!.http, credentials);
    application = await createApplication(nodes[0]!.http, bearer, { name: 'Shop' });
    key = (await createKey(nodes[0]!.http, bearer, application, 'Backend')).key;
    await database.query('CREATE ROLE analyst LOGIN');
    await database.query('GRANT USAGE ON SCHEMA flagmeter_reports TO analyst', [], postgresUrl);
    await database.query('GRANT SELECT ON ALL TABLES IN SCHEMA flagmeter_reports TO analyst', [], postgresUrl);
    reader = postgresUrl.replace('postgres@', 'analyst@');
  });

  afterAll(async () => {
    for (const node of nodes) await stop(node);
  });

  test('the usage by days in SQL equals the report, and is corrected when late data reaches another node', async () => {
    await expect.poll(() => report(nodes[0]!, 'checkout', 3), often).toBe(0);
    await expect.poll(() => report(nodes[1]!, 'checkout', 4), often).toBe(0);
    await report(nodes[1]!, 'search', 5);
    await report(nodes[0]!, 'today', 1, new Date());
    await vi.waitFor(expectAlike({ checkout: 7, search: 5 }), often);
    await report(nodes[1]!, 'search', 100);
    await stop(nodes.shift()!, 'SIGKILL');
    await vi.waitFor(expectAlike({ checkout: 7, search: 105 }), often);
  });

  test('the usage by days in SQL follows renames, and disappears as soon as its application is deleted', async () => {
    const [{ http }] = nodes as [Binary];
    const path = `/api/v2/applications/${application}`;
    await manage(http, bearer, 'PATCH', path, 200, { name: 'Market' });
    expect(await rows()).toMatchObject([{ application: 'Market' }, { application: 'Market' }]);
    await manage(http, bearer, 'DELETE', path, 204);
    expect(await rows()).toEqual([]);
  });
});

/** Reports checks of a feature over gRPC. @returns the status */
async function report({ grpc }: Binary, feature: string, checkCount: number, time = yesterday): Promise<number> {
  const client = openClient(grpc);
  const stats = [{ feature, variantStats: { on: { checkCount } } }];
  const message = encode('Usage.FeatureStat', {
    appKey: key,
    environment: 'Production',
    time: time.toISOString(),
    stats,
  });
  const { code } = await call(client, '/Usage.Usage/SendStats', message);
  client.close();
  return code;
}

interface Row {
  readonly application: string;
  readonly feature: string;
  readonly variant: string;
  readonly checks: number;
  readonly users: number;
}

function rows(): Promise<Row[]> {
  const text = `SELECT application, feature, variant, checks::int, users::int FROM flagmeter_reports.daily_usage
    WHERE environment = 'Production' AND day >= $1::date ORDER BY feature`;
  return database.query<Row>(text, [yesterday.toISOString()], reader);
}

function expectAlike(wanted: Record<string, number>): () => Promise<void> {
  return async () => {
    const range = { environment: 'Production', from: yesterday, to: today, step: 'day' } as const;
    const { features } = await usage(nodes.at(-1)!.http, bearer, application, range);
    const shown = features.flatMap(({ feature, variants }) =>
      variants.map(({ variant, checks, uniqueUsers: users }) => {
        return { application: 'Shop', feature, variant, checks, users };
      }),
    );
    const found = await rows();
    expect(Object.fromEntries(found.map(({ feature, checks }) => [feature, checks]))).toEqual(wanted);
    expect(found).toEqual(shown.sort((a, b) => (a.feature < b.feature ? -1 : 1)));
  };
}
