import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ServiceStatus } from '../../src/contract/shapes/status.ts';
import { readValues, TestCollector } from '../serve/otlp/collector.ts';
import { type Binary, type Credentials, freshDirectory, startBinary, stop, token } from '../support/binary.ts';
import { parseExposition } from '../support/exposition.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { readTable } from '../support/read-csv.ts';
import { openShop, type Shop, sendCheck } from '../support/shop.ts';

interface UsageReport {
  readonly features: readonly { readonly feature: string; readonly checks: number }[];
}

/** Tests that the exports of two machines contain the same counts. */

const names = ['one', 'two'] as const;
const features = ['checkout', 'search'] as const;
const often = { interval: 100 };

let database: Postgres;
let postgresUrl: string;
let credentials: Credentials;
let collector: TestCollector;
let shop: Shop;
const nodes = new Map<string, Binary>();
/** Accepted checks by feature. */
const counted = new Map<string, number>();

/** Starts a node that sends its name to the collector in a header, because nothing in the payload identifies it. */
function startNode(name: string): Promise<Binary> {
  const directory = freshDirectory();
  const headers = join(directory, 'headers');
  writeFileSync(headers, `x-node: ${name}\n`);
  const postgresArgs = ['--postgres', postgresUrl, '--node-name', name];
  const otlp = ['--otlp-endpoint', collector.url, '--otlp-headers-file', headers, '--otlp-every', '1'];
  return startBinary({ data: join(directory, 'data'), args: [...postgresArgs, ...otlp] });
}

async function send(http: string, feature: string): Promise<void> {
  await vi.waitFor(async () => expect(await sendCheck(http, shop.key, feature)).toBe(202), often);
  counted.set(feature, (counted.get(feature) ?? 0) + 1);
}

async function get(http: string, path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${await token(http, credentials)}` };
  const response = await fetch(`http://${http}/api/v2${path}`, { headers });
  expect(response.status).toBe(200);
  return response;
}

const report = (more: string) => `/applications/${shop.application}/usage?environment=Production${more}`;

/** Functions that return the exported checks of a node, by feature. */
const ways: Readonly<Record<string, (http: string) => Promise<(readonly [string, number])[]>>> = {
  async json(http) {
    const { features } = (await (await get(http, report(''))).json()) as UsageReport;
    return features.map(({ feature, checks }) => [feature, checks]);
  },
  async csv(http) {
    const rows = readTable(await (await get(http, report('&step=day&format=csv'))).text());
    return rows.map(({ feature, checks }) => [feature!, Number(checks)]);
  },
  async ndjson(http) {
    const lines = (await (await get(http, report('&step=day&format=ndjson'))).text()).split('\n');
    return lines.slice(0, -1).map((line) => [JSON.parse(line).feature, JSON.parse(line).checks]);
  },
  async prometheus(http) {
    const { samples } = parseExposition(await (await get(http, `/applications/${shop.application}/prometheus`)).text());
    return samples
      .filter(({ name }) => name === 'flagmeter_feature_checks_total')
      .map(({ labels, value }) => [labels['feature']!, value]);
  },
};

/** Returns the sender and the checks by feature of each push of the shop's usage, after the first `since` pushes. */
function pushes(since: number) {
  return collector
    .listUsage(shop.application)
    .slice(since)
    .map(({ headers, metrics }) => ({
      node: headers['x-node'],
      checks: new Map(
        metrics
          .get('flagmeter.feature.checks')
          ?.points.map(({ attributes, asDouble }) => [
            String(readValues(attributes)['feature_flag.key']),
            asDouble as number,
          ]),
      ),
    }));
}

needing('postgresql').describe('two nodes on one PostgreSQL', () => {
  beforeAll(async () => {
    collector = await TestCollector.open();
    database = await Postgres.start();
    postgresUrl = await database.database();
    credentials = await preparePostgres(postgresUrl);
    for (const name of names) nodes.set(name, await startNode(name));
    shop = await openShop(nodes.get('one')!.http, credentials);
    for (const { http } of nodes.values()) {
      for (const feature of features) await send(http, feature);
      await send(http, features[0]);
    }
  });

  afterAll(async () => {
    for (const node of nodes.values()) await stop(node);
    collector?.close();
  });

  test.each(Object.keys(ways))('each node exports the counts of both nodes as %s', async (way) => {
    for (const { http } of nodes.values())
      await vi.waitFor(async () => expect(new Map(await ways[way]!(http))).toEqual(counted), often);
  });

  test('a trace of a node shows the time spent waiting for PostgreSQL', async () => {
    const id = randomBytes(16).toString('hex');
    const { http } = nodes.get('two')!;
    const headers = {
      authorization: `Bearer ${await token(http, credentials)}`,
      'content-type': 'application/json',
      traceparent: `00-${id}-00f067aa0ba902b7-01`,
    };
    const body = JSON.stringify({ name: 'Another' });
    const response = await fetch(`http://${http}/api/v2/applications`, { method: 'POST', headers, body });
    expect(response.status).toBe(201);
    await vi.waitFor(() => expect(collector.listSpans(id).length).toBeGreaterThanOrEqual(3), often);
    const spans = collector.listSpans(id);
    const [server] = spans.filter(({ kind }) => kind === 'SPAN_KIND_SERVER');
    const change = spans.find(({ name }) => name === 'change accounts');
    const commit = spans.find(({ name }) => name === 'commit accounts');
    expect([change.parent, commit.parent]).toEqual([server.spanId, change.spanId]);
    expect(commit.kind).toBe('SPAN_KIND_CLIENT');
    expect(readValues(commit.attributes)).toEqual({ 'db.system.name': 'postgresql' });
  });

  test('a second node continues the pushes to the collector with the same sums if the pushing node is killed', async () => {
    for (const { http } of nodes.values())
      await vi.waitFor(async () => {
        const { cluster } = (await (await get(http, '/status')).json()) as ServiceStatus;
        expect(cluster?.nodes.filter(({ state }) => state === 'up')).toHaveLength(2);
      }, often);
    // Pushes that began before the nodes agreed on a sender can still arrive.
    const before = collector.listUsage(shop.application).length + 2;
    await vi.waitFor(() => expect(pushes(before).length).toBeGreaterThanOrEqual(5), often);
    const senders = new Set(pushes(before).map(({ node }) => node));
    expect(senders.size).toBe(1);
    expect(pushes(before).at(-1)!.checks).toEqual(counted);

    const [sender] = senders as Set<string>;
    const other = names.find((name) => name !== sender)!;
    await stop(nodes.get(sender!)!, 'SIGKILL');
    nodes.delete(sender!);
    await send(nodes.get(other)!.http, features[0]);
    await vi.waitFor(() => {
      const last = pushes(before).at(-1)!;
      expect([last.node, last.checks]).toEqual([other, counted]);
    }, often);
  });
});
