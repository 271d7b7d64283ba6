import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Binary,
  createApplication,
  createKey,
  freshDirectory,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { parseExposition } from '../support/exposition.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { Prometheus } from '../support/prometheus.ts';
import { metricsIn, promtool, readPanels, readRules } from '../support/promtool.ts';
import { encode, usageReport } from '../support/report-messages.ts';

/**
 * A real Prometheus with the published rules scrapes two executables: a node with PostgreSQL, and a single machine with
 * backups, an audit log export and a certificate. Together, they have every metric.
 */

const urls = ['--auth-url', 'https://auth.example', '--base-url', 'https://api.example'];
/** At most two packets can wait. The service therefore refuses some of several simultaneous packets. */
const narrow = ['--queue-high-packets', '2', '--queue-low-packets', '1', '--batch-packets', '1'];
const own = ['--ops-listen', '127.0.0.1:0'];
const often = { interval: 250 };

const pem = (name: string) => fileURLToPath(new URL(`../http/support/tls/${name}.pem`, import.meta.url));

let database: Postgres;
let node: Binary;
let alone: Binary;
let targets: readonly string[];
let prometheus: Prometheus;
let key: string;

const send = async (k: string) => {
  const response = await fetch(`http://${node.http}/api/frontend/telemetry`, {
    method: 'POST',
    headers: { origin: 'https://shop.example' },
    body: JSON.stringify({ k, e: 'Production', f: { checkout: { on: [1] } } }),
  });
  return response.status;
};

const metrics = () => Promise.all(targets.map(async (target) => (await fetch(`http://${target}/metrics`)).text()));

/** Waits until an alert fires that has not fired before. */
async function fires(alert: string, provoke: () => Promise<unknown>): Promise<void> {
  expect(await prometheus.firing()).not.toContain(alert);
  await provoke();
  await vi.waitFor(async () => expect(await prometheus.firing()).toContain(alert), often);
}

needing('prometheus', 'postgresql').describe('Prometheus', () => {
  beforeAll(async () => {
    database = await Postgres.start();
    const postgresUrl = await database.database();
    const credentials = await preparePostgres(postgresUrl);
    node = await startBinary({ args: ['--postgres', postgresUrl, ...own, ...urls, ...narrow] });
    const backups = ['--backup-every', '24h', '--backup-to', freshDirectory()];
    const copies = ['--audit-export', freshDirectory()];
    const tls = ['--tls-cert', pem('cert'), '--tls-key', pem('key')];
    alone = await startBinary({ args: [...own, ...backups, ...copies, ...tls] });
    targets = [node, alone].map(({ line }) => /\bops=(\S+)/.exec(line)![1]!);
    const bearer = await token(node.http, credentials);
    const application = await createApplication(node.http, bearer, { name: 'Shop' });
    key = (await createKey(node.http, bearer, application, 'Frontend')).key;
    await vi.waitFor(async () => expect(await send(key)).toBe(202), often);
    const client = openClient(node.grpc);
    await call(client, '/Usage.Usage/SendStats', encode('Usage.FeatureStat', { ...usageReport, appKey: key }));
    client.close();
    await send('no-such-key');
    prometheus = await Prometheus.start(targets);
  });

  afterAll(async () => {
    await prometheus?.close();
    for (const each of [node, alone]) if (each !== undefined) await stop(each, 'SIGKILL');
    await database?.close();
  });

  test('promtool accepts the metrics', async () => {
    for (const text of await metrics()) expect(() => promtool(['check', 'metrics'], {}, text)).not.toThrow();
  });

  test('Prometheus has every metric that the rules and the dashboard use', async () => {
    const named = [...readRules(), ...readPanels()].flatMap(({ expr }) => metricsIn(expr));
    await vi.waitFor(async () => {
      const samples = (await metrics()).flatMap((text) => parseExposition(text).samples);
      const known = new Set(['up', ...samples.map(({ name }) => name)]);
      expect(named.filter((name) => !known.has(name))).toEqual([]);
    }, often);
  });

  test('Prometheus has data for every panel of the dashboard', async () => {
    await vi.waitFor(async () => {
      const empty = [];
      for (const { title, expr } of readPanels()) if ((await prometheus.query(expr)).length === 0) empty.push(title);
      expect(empty).toEqual([]);
    }, often);
  });

  test('Prometheus evaluates every rule', async () => {
    await vi.waitFor(async () => {
      const rules = await prometheus.rules();
      expect(rules.map(({ name }) => name)).toEqual(readRules().map(({ alert }) => alert));
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    }, often);
  });

  test('an alert fires when packets are refused', () =>
    fires('FlagmeterRefusesForLackOfRoom', () =>
      vi.waitFor(async () => {
        const statuses = await Promise.all(Array.from({ length: 50 }, () => send(key)));
        expect(statuses).toContain(503);
        expect(statuses).toContain(202);
      }, often),
    ));

  test('an alert fires when PostgreSQL is unreachable and management requests are refused', async () => {
    await fires('FlagmeterEngineAway', () => database.stop());
    await vi.waitFor(async () => expect(await prometheus.firing()).toContain('FlagmeterNotManaging'), often);
    expect(await prometheus.firing()).not.toContain('FlagmeterDown');
  });

  test('an alert fires when the service is down', () => fires('FlagmeterDown', () => stop(node, 'SIGKILL')));
});
