import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  type Binary,
  createApplication,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { installModules } from '../support/install-modules.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { example, type RunningProxy, runProxy } from '../support/proxy-program.ts';
import { runBinary, runProgram } from '../support/run-binary.ts';
import { startUnleash, type UnleashServer, unleashModules } from './start-unleash.ts';

/** An Unleash server runs behind nginx. The proxy mirrors the reports of the published SDK to flagmeter. */

const hourMs = 3_600_000;
const rounds = 100;
const services = ['web', 'billing', 'search'];
const sdkToken = `default:production.${randomBytes(28).toString('hex')}`;
const often = { interval: 200 };

let modules: string;
let postgres: Postgres;
let database: string;
let unleash: UnleashServer;
let service: Binary;
let access: string;
let application: string;
let proxy: RunningProxy;
/** Start of the hour in which the SDKs begin to report to flagmeter, too. */
let switchOver: number;

/** Reads the checks in Unleash's tables by hour, flag and variant. */
const sql = `
  WITH covered AS (
    SELECT feature_name, app_name, environment, timestamp, sum(count) AS count FROM client_metrics_env_variants
    WHERE variant <> 'disabled' GROUP BY 1, 2, 3, 4
  ), checks AS (
    SELECT timestamp, feature_name, 'disabled' AS variant, no AS checks FROM client_metrics_env
    UNION ALL SELECT timestamp, feature_name, variant, count FROM client_metrics_env_variants WHERE variant <> 'disabled'
    UNION ALL SELECT timestamp, feature_name, 'enabled', yes - coalesce(covered.count, 0) FROM client_metrics_env
      LEFT JOIN covered USING (feature_name, app_name, environment, timestamp)
  )
  SELECT (extract(epoch FROM timestamp) * 1000)::bigint AS hour, feature_name AS flag, variant, sum(checks)::int AS checks
  FROM checks GROUP BY 1, 2, 3 HAVING sum(checks) > 0`;

async function inUnleash(): Promise<string[]> {
  const rows = await postgres.query<{ hour: string; flag: string; variant: string; checks: number }>(sql, [], database);
  const lines = rows.map(({ hour, flag, variant, checks }) => lineOf(Number(hour), flag, variant, checks));
  return lines.sort();
}

function lineOf(hour: number, flag: string, variant: string, checks: number): string {
  return `${new Date(hour).toISOString()} ${flag} ${variant} ${checks}`;
}

/** Reads the checks in flagmeter from an export, in the same format. */
async function inFlagmeter(environment: string): Promise<string[]> {
  const from = new Date(switchOver - 48 * hourMs).toISOString();
  const query = new URLSearchParams({ environment, from, step: 'hour', format: 'ndjson' });
  const response = await fetch(`http://${service.http}/api/v2/applications/${application}/usage?${query}`, {
    headers: { authorization: `Bearer ${access}` },
  });
  const rows = (await response.text()).split('\n').filter((line) => line !== '');
  return rows
    .map((row) => JSON.parse(row))
    .map(({ time, feature, variant, checks }) => lineOf(Date.parse(time), feature, variant, checks))
    .sort();
}

const sum = (lines: readonly string[]) => lines.reduce((all, line) => all + Number(line.split(' ').at(-1)), 0);

async function createFlags(): Promise<void> {
  const features = '/projects/default/features';
  const blue = { weight: 500, weightType: 'variable', stickiness: 'userId' };
  const variants = [
    { name: 'blue', ...blue },
    { name: 'green', ...blue },
  ];
  for (const name of ['checkout', 'search', 'banner']) {
    await unleash.admin('POST', features, { name });
    const production = `${features}/${name}/environments/production`;
    const parameters = { rollout: '100', stickiness: 'default', groupId: name };
    await unleash.admin('POST', `${production}/strategies`, {
      name: 'flexibleRollout',
      parameters,
      ...(name === 'banner' && { variants }),
    });
    if (name !== 'search') await unleash.admin('POST', `${production}/on`);
  }
}

/** Sends a report of an hour before the switch-over to Unleash only. */
async function reportEarlier(hoursAgo: number, yes: number, no: number, blue: number): Promise<void> {
  const at = new Date(switchOver - hoursAgo * hourMs + 60_000);
  const toggles = { banner: { yes, no, variants: { blue, disabled: no } }, checkout: { yes, no } };
  const response = await fetch(`http://127.0.0.1:${unleash.port}/api/client/metrics`, {
    method: 'POST',
    headers: { authorization: sdkToken, 'content-type': 'application/json' },
    body: JSON.stringify({ appName: 'web', instanceId: 'i', bucket: { start: at, stop: at, toggles } }),
  });
  expect(response.status).toBe(202);
}

/** Imports both tables of Unleash, as the docs describe. */
async function importTables(environment: string, ...more: string[]): Promise<Record<string, unknown>> {
  const folder = freshDirectory();
  const tables = { metrics: 'client_metrics_env', variants: 'client_metrics_env_variants' };
  for (const [name, table] of Object.entries(tables)) {
    const copy = `\\copy ${table} to '${join(folder, name)}.csv' csv header`;
    expect(await runProgram('psql', [database, '-c', copy])).toMatchObject({ code: 0 });
  }
  const files = [join(folder, 'metrics.csv'), '--variants', join(folder, 'variants.csv')];
  const target = ['--format', 'unleash', '--app', 'Shop', '--env', environment, '--json', ...more];
  const env = { FLAGMETER_URL: `http://${service.http}`, FLAGMETER_TOKEN: access, HOME: folder };
  const { code, stdout, stderr } = await runBinary(['import', ...files, ...target], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

needing('nginx', 'postgresql').describe('Unleash and flagmeter', () => {
  beforeAll(async () => {
    modules = await installModules(unleashModules);
    postgres = await Postgres.start();
    database = (await postgres.database()).replace(/\?.*/, '');
    const data = join(freshDirectory(), 'data');
    const credentials = await prepare(data);
    service = await startBinary({ data });
    access = await token(service.http, credentials);
    application = await createApplication(service.http, access, { name: 'Shop' });
    const path = `/api/v2/applications/${application}`;
    const adopted = { token: sdkToken, type: 'Backend', environment: 'Production' };
    await manage(service.http, access, 'POST', `${path}/keys/adopt`, 201, adopted);
    await manage(service.http, access, 'POST', `${path}/environments`, 201, { name: 'History' });
    unleash = await startUnleash(database, sdkToken);
    await createFlags();
    const text = example('unleash/nginx-mirror.conf')
      .replaceAll('127.0.0.1:8080', service.http)
      .replaceAll('127.0.0.1:4242', `127.0.0.1:${unleash.port}`);
    proxy = await runProxy('nginx', freshDirectory(), text);
  });

  afterAll(async () => {
    await proxy?.stop();
    await unleash?.stop();
    if (service !== undefined) await stop(service);
  });

  const { test } = needing('nginx', 'postgresql');

  test('Unleash and flagmeter count the same checks if a proxy mirrors the reports', async () => {
    switchOver = Math.floor(Date.now() / hourMs) * hourMs;
    const url = `https://localhost:${proxy.port}/api`;
    const script = join(import.meta.dirname, 'service.cjs');
    const env = { NODE_EXTRA_CA_CERTS: join(import.meta.dirname, '../http/support/tls/cert.pem') };
    const run = (name: string) =>
      runProgram(process.execPath, [script, modules, url, sdkToken, name, String(rounds)], env);
    for (const ended of await Promise.all(services.map(run))) expect(ended).toMatchObject({ code: 0, stderr: '' });
    // Each round of a service makes five checks. The checks of `banner` have a variant.
    await expect.poll(async () => sum(await inUnleash()), often).toBe(5 * rounds * services.length);
    const counted = await inUnleash();
    expect(counted.filter((line) => /banner (blue|green)/.test(line)).length).toBeGreaterThan(1);
    await expect.poll(() => inFlagmeter('Production'), often).toEqual(counted);
  });

  test('flagmeter has the same history as Unleash after an import of the Unleash tables, and imports them only once', async () => {
    for (const hoursAgo of [1, 2, 30]) await reportEarlier(hoursAgo, 100 * hoursAgo, hoursAgo, 40);
    await expect
      .poll(async () => new Set((await inUnleash()).map((line) => line.split(' ')[0])).size, often)
      .toBeGreaterThanOrEqual(4);
    const counted = await inUnleash();
    const first = await importTables('History');
    expect(first).toMatchObject({ checks: sum(counted), badLines: 0, repeated: 0 });
    expect(await inFlagmeter('History')).toEqual(counted);
    expect(await importTables('History')).toMatchObject({ imported: 0, repeated: first['imported'] });
  });

  test('flagmeter does not count mirrored checks twice if the tables are imported up to the switch-over', async () => {
    const before = ['--before', new Date(switchOver).toISOString()];
    expect(await importTables('Production', ...before)).toMatchObject({ badLines: 0 });
    expect(await inFlagmeter('Production')).toEqual(await inUnleash());
    expect(await importTables('Production', ...before)).toMatchObject({ imported: 0 });
  });
});
