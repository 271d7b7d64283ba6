import { afterAll, beforeAll, expect, vi } from 'vitest';
import {
  type Binary,
  type Credentials,
  createApplication,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { createEnvironment, type Owner, readCounts, readUsers } from '../support/environment.ts';
import { needing } from '../support/needing.ts';
import { checkTypes, openFeatureSdks, prepareServerApp, type ServerApp } from '../support/openfeature.ts';
import { type Behaviour, startUnreliableHost, type UnreliableHost } from '../support/unreliable-host.ts';

const { describe, test } = needing(openFeatureSdks);

test('the types of the package for OpenFeature are compatible with the SDKs for servers and for pages', () => {
  expect(checkTypes()).toBe('');
});

describe("the server SDK with flagmeter's hook", () => {
  const data = `${freshDirectory()}/data`;
  let credentials: Credentials;
  let binary: Binary;
  let owner: Owner;
  let key: string;
  let startApp: (options: object) => Promise<ServerApp>;
  const apps: ServerApp[] = [];
  const hosts: UnreliableHost[] = [];

  beforeAll(async () => {
    startApp = await prepareServerApp();
    credentials = await prepare(data);
    binary = await startBinary({ data });
    const { http } = binary;
    const access = await token(http, credentials);
    owner = { http, access, application: await createApplication(http, access, { name: 'Shop' }) };
    ({ key } = await createKey(http, access, owner.application, 'Backend'));
  });
  afterAll(() => {
    for (const app of apps) app.kill();
    for (const host of hosts) host.close();
  });

  /** Starts an application that reports to its own environment, through an unreliable host. */
  async function open(options: object = {}): Promise<ServerApp & { environment: string; host: UnreliableHost }> {
    const environment = await createEnvironment(owner);
    const host = await startUnreliableHost(owner.http);
    hosts.push(host);
    const app = await startApp({ url: host.url, key, environment, seconds: 1, ...options });
    apps.push(app);
    return { ...app, environment, host };
  }

  test('the OpenFeature hook counts the evaluations of each variant and the users of each flag', async () => {
    const app = await open();
    await app.act('evaluate', 'checkout', 'ada', 3);
    await app.act('evaluate', 'checkout', 'bob', 2);
    await app.act('evaluate', 'retired', 'bob', 1);
    await app.act('evaluate', 'unknown', 'bob', 4);
    await app.act('text', 'banner');
    await app.act('text', 'retired');
    await app.act('flush');
    await app.act('evaluate', 'checkout', 'ada', 1);
    await app.act('flush');
    expect(await readCounts(owner, app.environment)).toEqual({
      checkout: [
        ['off', 2, 0],
        ['on', 4, 0],
      ],
      banner: [['blue', 1, 0]],
      retired: [
        ['disabled', 1, 0],
        ['none', 1, 0],
      ],
      unknown: [['(error)', 4, 0]],
    });
    const users = { checkout: 2, banner: 0, retired: 1, unknown: 0 };
    expect(await readUsers(owner, app.environment)).toEqual(users);
  });

  test('the OpenFeature hook counts tracking events as uses of the evaluated variant, or as metrics', async () => {
    const app = await open();
    await app.act('evaluate', 'checkout', 'ada', 1);
    await app.act('evaluate', 'checkout', 'bob', 1);
    await app.act('track', 'paid', 'ada', { flag: 'checkout', value: 99 });
    await app.act('track', 'paid', 'bob', { flag: 'checkout' });
    await app.act('track', 'paid', 'bob', { flag: 'checkout', variant: 'on' });
    await app.act('track', 'revenue', 'ada', { value: 20.5 });
    await app.act('track', 'revenue', 'bob', { value: 2 });
    await app.act('track', 'signed-up', 'bob', {});
    await app.act('flush');
    expect(await readCounts(owner, app.environment)).toEqual({
      checkout: [
        ['off', 1, 1],
        ['on', 1, 2],
      ],
    });
    const [from, to] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
    const query = new URLSearchParams({ environment: app.environment, from: from!, to: to!, step: 'hour' });
    const path = `/api/v2/applications/${owner.application}/measurements?${query}`;
    const { metrics } = (await manage(owner.http, owner.access, 'GET', path, 200)) as {
      metrics: { metric: string; sum: number }[];
    };
    expect(metrics.map(({ metric, sum }) => [metric, sum])).toEqual([
      ['revenue', 22.5],
      ['signed-up', 1],
    ]);
  });

  test('the list of senders shows the OpenFeature SDK with the name and version of its program', async () => {
    const app = await open({ service: 'Checkout Service', version: '1.4.0' });
    await app.act('evaluate', 'checkout', 'ada', 1);
    await app.act('flush');
    const query = new URLSearchParams({ environment: app.environment });
    const path = `/api/v2/applications/${owner.application}/ingest?${query}`;
    const ledger = await manage(owner.http, owner.access, 'GET', path, 200);
    expect(JSON.stringify(ledger)).toContain('Checkout-Service/1.4.0');
  });

  describe.concurrent('the server SDK during an outage', () => {
    test.each<[string, Behaviour]>([
      ['the server is unreachable', 'refuse'],
      ['responses are lost', 'lose'],
      ['the server responds with 503', 503],
      ['the server responds with 429', 429],
    ])('the OpenFeature hook counts evaluations once while %s', async (_, behaviour) => {
      const { act, host, environment } = await open();
      await act('evaluate', 'checkout', 'ada', 10);
      await act('flush');
      host.behave(behaviour);
      await act('evaluate', 'checkout', 'ada', 100);
      await act('flush');
      await vi.waitFor(() => expect(host.requests).toBeGreaterThan(1));
      await act('evaluate', 'checkout', 'ada', 50);
      await act('track', 'paid', 'ada', { flag: 'checkout' });
      host.behave('forward');
      await act('flush');
      expect(await readCounts(owner, environment)).toEqual({ checkout: [['on', 160, 1]] });
    });

    test('the OpenFeature hook does not prevent its process from exiting', async () => {
      const app = await open();
      app.host.behave('refuse');
      await app.act('evaluate', 'checkout', 'ada', 5);
      expect(await app.end()).toBe(0);
    });
  });

  test.each<[string, (app: ServerApp) => Promise<unknown>]>([
    ['OpenFeature is closed', (app) => app.act('close')],
    ['the process ends by itself', (app) => app.end()],
  ])('the OpenFeature hook sends waiting counts when %s', async (_, close) => {
    const app = await open({ seconds: 3600 });
    await app.act('evaluate', 'checkout', 'ada', 5);
    await close(app);
    expect(await readCounts(owner, app.environment)).toEqual({ checkout: [['on', 5, 0]] });
  });

  test('the OpenFeature hook counts evaluations once across a crash of the server', async () => {
    const { act, host, environment } = await open();
    host.behave('lose');
    await act('evaluate', 'checkout', 'ada', 100);
    await vi.waitFor(() => expect(host.requests).toBeGreaterThan(0));
    await stop(binary, 'SIGKILL');
    await act('evaluate', 'checkout', 'ada', 50);
    await act('flush');
    binary = await startBinary({ data });
    // Tokens contain the address of the server, whose port has changed.
    owner = { ...owner, http: binary.http, access: await token(binary.http, credentials) };
    host.target = binary.http;
    host.behave('forward');
    await act('flush');
    expect(await readCounts(owner, environment)).toEqual({ checkout: [['on', 150, 0]] });
  });
});
