import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type ExportResult, exportDays } from '../../src/replication/daily-export.ts';
import { defaultSettings } from '../../src/replication/entry.ts';
import type { PostgresSession } from '../../src/replication/postgres/connection.ts';
import type { Statement } from '../../src/replication/postgres/session.ts';
import { usageReport } from '../../src/reports/usage/usage-report.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { transact } from '../../src/storage/lmdb/lmdb.ts';
import { finish } from '../support/finish.ts';
import { needing } from '../support/needing.ts';
import { expectCounts, kill, newDatabase, postgres, start, startPostgres } from './nodes.ts';
import { environment, minute, type TestNode } from './test-node.ts';

startPostgres();

const { describe, it } = needing('postgresql');

const today = Math.floor(Date.now() / 86_400_000);
const yesterday = today - 1;
/** Returns the first minute of a day, as an offset from the minute in which `TestNode` counts. */
const on = (day: number) => day * 1440 - minute;

const columns = 'feature, variant, checks::int, used::int, viewed::int, users::int';

interface DayRow {
  readonly feature: string;
  readonly variant: string;
  readonly checks: number;
  readonly used: number;
  readonly viewed: number;
  readonly users: number;
}

/** End of the names under which the tests take the lease. */
const ofTest = ' of a test';

/** Creates a database with one application. */
async function postgresWithShop(): Promise<string> {
  const url = await newDatabase();
  const application = {
    id: 'app_1',
    teamId: 'team_1',
    name: 'Shop',
    environments: [{ name: 'Live', number: environment }],
  };
  const records = [
    ['teams', 'team_1', { id: 'team_1', name: 'Storefront' }],
    ['applications', 'app_1', application],
    ['users', 'user_1', { id: 'user_1', name: 'Secret', environments: [{ name: 'Secret', number: environment }] }],
  ] as const;
  for (const [table, key, value] of records)
    await postgres.query('INSERT INTO fm_record VALUES ($1, $2, $3)', [table, key, JSON.stringify(value)], url);
  // The exports that the nodes start by themselves cannot take the lease, so only the exports of the tests write days.
  await postgres.query(`ALTER TABLE fm_export ADD CHECK (holder LIKE '%${ofTest}') NOT VALID`, [], url);
  return url;
}

function exportFrom(
  node: TestNode,
  session: PostgresSession = node.side,
  now = Date.now(),
): Promise<ExportResult | undefined> {
  return exportDays({
    session,
    store: node.store,
    directory: `${node.spool.directory}${ofTest}`,
    clock: systemClock,
    progress: () => ({ completeThrough: now, now, retention: defaultSettings }),
    isEnding: () => false,
  });
}

/** Lets another node write immediately, as if the lease had expired. */
const endLease = (url: string) =>
  postgres.query(`UPDATE fm_export SET holder = 'former${ofTest}', until = now() - interval '1 s'`, [], url);

const inSql = (url: string, day: number, view = 'daily_usage', some = columns) =>
  postgres.query<DayRow>(
    `SELECT ${some} FROM flagmeter_reports.${view} WHERE day = date '1970-01-01' + $1::int ORDER BY 1, 2`,
    [day],
    url,
  );

function inReport(node: TestNode, day: number): DayRow[] {
  const range = { from: day * 1440, to: (day + 1) * 1440, step: 'day' } as const;
  const { features } = finish(usageReport(node.store, { name: 'Live', number: environment }, range, undefined));
  const rows = features.flatMap(({ feature, variants }) =>
    variants.map(({ variant, checks, used, viewed, uniqueUsers }) => {
      return { feature, variant, checks, used, viewed, users: uniqueUsers };
    }),
  );
  return rows.sort((a, b) => (a.feature < b.feature ? -1 : 1));
}

function sqlOfDocs(): string[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs/cluster.md'), 'utf8');
  const blocks = Array.from(text.matchAll(/```sql\n([^`]+)```/g), ([, block = '']) => block);
  return blocks.filter((block) => block.includes('flagmeter_reports'));
}

/** Returns a promise and the function that resolves it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Returns a session that calls `before` for each statement. `before` can wait or throw. */
function intercepted(session: PostgresSession, before: (statement: Statement) => Promise<void>): PostgresSession {
  return {
    query: async (statement: Statement) => {
      await before(statement);
      return session.query(statement) as never;
    },
    transaction: (work) => session.transaction(work),
  };
}

async function fill(one: TestNode, two: TestNode, features = 1200): Promise<Record<string, number>> {
  const rows = Array.from({ length: features }, (_, index) => [`f${index}`, index + 1, on(yesterday)] as const);
  one.countAll(rows);
  two.countAll(rows.slice(0, 100));
  two.count('today', 5, on(today));
  const all = Object.fromEntries(rows.map(([name, checks], index) => [name, index < 100 ? 2 * checks : checks]));
  const wanted = { ...all, today: 5 };
  await expectCounts(one, wanted);
  await expectCounts(two, wanted);
  return wanted;
}

describe('usage by days in SQL', () => {
  it('the SQL views of daily usage equal the reports of complete days, no matter which nodes write the views', async () => {
    const url = await postgresWithShop();
    const one = await start(url);
    const two = await start(url);
    one.meet('f1', 1);
    two.meet('f1', 2);
    await fill(one, two);
    const results = await Promise.allSettled(
      [one, two].map((node) => {
        const both = intercepted(node.side, async ({ name }) => {
          if (name === 'fm-daily-lease') await endLease(url);
        });
        return exportFrom(node, both);
      }),
    );
    expect(results.map(({ status }) => status)).toContain('fulfilled');
    const [first] = await inSql(url, yesterday);
    expect(first).toEqual({ feature: 'f0', variant: 'on', checks: 2, used: 0, viewed: 0, users: 0 });
    expect(await inSql(url, yesterday)).toEqual(inReport(one, yesterday));
    expect(await inSql(url, yesterday)).toEqual(inReport(two, yesterday));
    expect(await inSql(url, today)).toEqual([]);
    const place = 'team, application_id, application, environment';
    expect(await inSql(url, yesterday, 'daily_usage', `DISTINCT ${place}`)).toEqual([
      { team: 'Storefront', application_id: 'app_1', application: 'Shop', environment: 'Live' },
    ]);
    await endLease(url);
    expect(await exportFrom(one)).toEqual({ days: 0, rows: 0 });
  });

  it('the SQL views of daily usage include the users of variants and features', async () => {
    const url = await postgresWithShop();
    const one = await start(url);
    const two = await start(url);
    const day = Math.floor(minute / 1440);
    one.meet('f', 1);
    two.meet('f', 1);
    two.meet('f', 2);
    one.count('f', 3);
    await expectCounts(one, { f: 3 });
    await expect.poll(() => one.users()).toBe(2);
    await exportFrom(one, one.side, (minute + 2 * 1440) * 60_000);
    const rows = [{ feature: 'f', variant: 'on', checks: 3, used: 0, viewed: 0, users: 2 }];
    expect(await inSql(url, day)).toEqual(rows);
    expect(inReport(one, day)).toEqual(rows);
    expect(await inSql(url, day, 'daily_features', 'feature, checks::int, users::int')).toEqual([
      { feature: 'f', checks: 3, users: 2 },
    ]);
  });

  it('the SQL views of daily usage show only fully written days, even if a writer was killed', async () => {
    const url = await postgresWithShop();
    const one = await start(url);
    const two = await start(url);
    await fill(one, two);
    let puts = 0;
    const dying = intercepted(one.side, async ({ name }) => {
      if (name === 'fm-daily-put') puts += 1;
      if (puts === 2) throw new Error('killed');
    });
    await expect(exportFrom(one, dying)).rejects.toThrow('killed');
    expect(await postgres.query('SELECT 1 FROM fm_daily', [], url)).toHaveLength(500);
    expect(await inSql(url, yesterday)).toEqual([]);
    await kill(url, one);
    expect(await exportFrom(two)).toBeUndefined();
    await endLease(url);
    expect(await exportFrom(two)).toEqual({ days: 1, rows: 2400 });
    expect(await inSql(url, yesterday)).toEqual(inReport(two, yesterday));
  });

  it('the SQL views of daily usage include late counts, and older rows never replace newer rows', async () => {
    const url = await postgresWithShop();
    const one = await start(url);
    const two = await start(url);
    const wanted = await fill(one, two, 20);
    await exportFrom(one);
    one.count('f3', 1000, on(yesterday));
    await expectCounts(two, { ...wanted, f3: 1008 });
    await endLease(url);
    const goOn = gate();
    const begun = gate();
    const slow = intercepted(two.side, async ({ name }) => {
      if (name !== 'fm-daily-put') return;
      begun.open();
      await goOn.opened;
    });
    const late = exportFrom(two, slow).catch(() => {});
    await begun.opened;
    two.count('f3', 10_000, on(yesterday));
    two.count('new', 1, on(yesterday));
    await expectCounts(one, { ...wanted, f3: 11_008, new: 1 });
    await endLease(url);
    expect(await exportFrom(one)).toEqual({ days: 1, rows: 42 });
    goOn.open();
    await late;
    expect(await inSql(url, yesterday)).toEqual(inReport(one, yesterday));
    expect(await inSql(url, yesterday)).toContainEqual(expect.objectContaining({ feature: 'f3', checks: 11_008 }));
  });

  it('the SQL views of daily usage have the current names, and lose the rows of a removed environment', async () => {
    const url = await postgresWithShop();
    const one = await start(url);
    const two = await start(url);
    await fill(one, two, 20);
    await exportFrom(one);
    const change = (text: string) => postgres.query(text, [], url);
    const names = () => inSql(url, yesterday, 'daily_usage', 'DISTINCT team, application');
    await change(`UPDATE fm_record SET value = replace(value, 'Shop', 'Market') WHERE key = 'app_1'`);
    expect(await names()).toEqual([{ team: 'Storefront', application: 'Market' }]);
    await change(`UPDATE fm_record SET value = '{"id":"app_1","name":"Market","environments":[]}' WHERE key = 'app_1'`);
    expect(await names()).toEqual([]);
    await exportFrom(one);
    expect(await change('SELECT 1 FROM fm_daily')).toEqual([]);
    expect(await change('SELECT 1 FROM fm_day')).toEqual([]);
  });

  it('the SQL views of daily usage include counts stored by a version without a list of changed days', async () => {
    const url = await postgresWithShop();
    const one = await start(url);
    const two = await start(url);
    await fill(one, two, 20);
    transact(one.store.lmdb, () => {
      for (const key of one.store.replica.getKeys())
        if (/^(day:|daysMarked)/.test(key.toString())) one.store.replica.removeSync(Buffer.from(key));
    });
    expect(await exportFrom(one)).toMatchObject({ days: 1 });
    expect(await inSql(url, yesterday)).toEqual(inReport(one, yesterday));
  });

  it('the SQL views of daily usage reveal nothing to roles without rights', async () => {
    const url = await postgresWithShop();
    const one = await start(url);
    const two = await start(url);
    await fill(one, two, 20);
    await exportFrom(one);
    const [grants = '', example = ''] = sqlOfDocs();
    const [create, ...rest] = grants.split('\n');
    await postgres.query(create ?? '');
    const asAnalyst = url.replace('postgres@', 'analyst@');
    await expect(inSql(asAnalyst, yesterday)).rejects.toThrow('permission denied for schema');
    await postgres.query(rest.join('\n'), [], url);
    expect(await inSql(asAnalyst, yesterday)).toHaveLength(20);
    const [best] = await postgres.query(example, [], asAnalyst);
    const place = { application: 'Shop', environment: 'Live', feature: 'f19' };
    expect(best).toEqual({ ...place, checks: '40', used_percent: '0.0', users_of_best_day: '0' });
    await expect(postgres.query('SELECT * FROM fm_record', [], asAnalyst)).rejects.toThrow('permission denied');
    await expect(postgres.query('DELETE FROM flagmeter_reports.daily_usage', [], asAnalyst)).rejects.toThrow();
    const spying = `CREATE FUNCTION pg_temp.spy(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
      $$ BEGIN RAISE EXCEPTION 'saw %', $1; END $$; SELECT * FROM flagmeter_reports.daily_usage WHERE pg_temp.spy(application)`;
    await expect(postgres.query(spying, [], asAnalyst)).rejects.toThrow('saw Shop');
  });
});
