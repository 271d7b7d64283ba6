import { afterAll, beforeAll, expect, vi } from 'vitest';
import {
  type Binary,
  type Credentials,
  cleanUp,
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
import { needing } from '../support/needing.ts';
import { checkTypes, openFeatureSdks, prepareServerApp, type ServerApp } from '../support/openfeature.ts';
import { type Behaviour, startUnreliableHost, type UnreliableHost } from '../support/unreliable-host.ts';

const { describe, test } = needing(openFeatureSdks);

test('the types of the package for OpenFeature fit those of both SDKs', () => {
  expect(checkTypes()).toBe('');
});

describe("the server SDK with flagmeter's hook", () => {
  const data = `${freshDirectory()}/data`;
  let credentials: Credentials;
  let binary: Binary;
  let host: UnreliableHost;
  let access: string;
  let application: string;
  let key: string;
  let startApp: (options: object) => Promise<ServerApp>;
  const apps: ServerApp[] = [];

  beforeAll(async () => {
    startApp = await prepareServerApp();
    credentials = await prepare(data);
    binary = await startBinary({ data });
    host = await startUnreliableHost(binary.http);
    access = await token(binary.http, credentials);
    application = await createApplication(binary.http, access, { name: 'Shop' });
    ({ key } = await createKey(binary.http, access, application, 'Backend'));
  });
  afterAll(() => {
    for (const app of apps) app.kill();
    host?.close();
    cleanUp();
  });

  /** Starts an application that reports to an environment of its own. */
  async function open(environment: string, options: object = {}): Promise<ServerApp> {
    const path = `/api/v2/applications/${application}/environments`;
    await manage(binary.http, access, 'POST', path, 201, { name: environment });
    const app = await startApp({ url: host.url, key, environment, seconds: 1, ...options });
    apps.push(app);
    return app;
  }

  const lately = () => ({ from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) });

  /** `[variant, checks, used]` by feature. */
  async function counts(environment: string): Promise<Record<string, unknown>> {
    const query = { environment, step: 'hour', ...lately() } as const;
    const { features } = await usage(binary.http, access, application, query);
    return Object.fromEntries(
      features.map(({ feature, variants }) => [
        feature,
        variants.map(({ variant, checks, used }) => [variant, checks, used]).sort(),
      ]),
    );
  }

  test('counts each evaluation by its variant', async () => {
    const app = await open('variants');
    await app.act('evaluate', 'checkout', 'ada', 3);
    await app.act('evaluate', 'checkout', 'bob', 2);
    await app.act('evaluate', 'retired', 'bob', 1);
    await app.act('evaluate', 'unknown', 'bob', 4);
    await app.act('text', 'banner');
    await app.act('text', 'retired');
    await app.act('flush');
    expect(await counts('variants')).toEqual({
      checkout: [
        ['off', 2, 0],
        ['on', 3, 0],
      ],
      banner: [['blue', 1, 0]],
      retired: [
        ['disabled', 1, 0],
        ['none', 1, 0],
      ],
      unknown: [['(error)', 4, 0]],
    });
  });

  test('counts tracking events as uses of the variant that the user got, or as metrics', async () => {
    const app = await open('tracking');
    await app.act('evaluate', 'checkout', 'ada', 1);
    await app.act('evaluate', 'checkout', 'bob', 1);
    await app.act('track', 'paid', 'ada', { flag: 'checkout', value: 99 });
    await app.act('track', 'paid', 'bob', { flag: 'checkout' });
    await app.act('track', 'paid', 'bob', { flag: 'checkout', variant: 'on' });
    await app.act('track', 'revenue', 'ada', { value: 20.5 });
    await app.act('track', 'revenue', 'bob', { value: 2 });
    await app.act('track', 'signed-up', 'bob', {});
    await app.act('flush');
    expect(await counts('tracking')).toEqual({
      checkout: [
        ['off', 1, 1],
        ['on', 1, 2],
      ],
    });
    const { from, to } = lately();
    const range = new URLSearchParams({ from: from.toISOString(), to: to.toISOString(), step: 'hour' });
    const path = `/api/v2/applications/${application}/measurements?environment=tracking&${range}`;
    const { metrics } = (await manage(binary.http, access, 'GET', path, 200)) as {
      metrics: { metric: string; sum: number }[];
    };
    expect(metrics.map(({ metric, sum }) => [metric, sum])).toEqual([
      ['revenue', 22.5],
      ['signed-up', 1],
    ]);
  });

  test('is listed as a sender by the name and version of the program', async () => {
    const app = await open('senders', { service: 'Checkout Service', version: '1.4.0' });
    await app.act('evaluate', 'checkout', 'ada', 1);
    await app.act('flush');
    const path = `/api/v2/applications/${application}/ingest?environment=senders`;
    const ledger = await manage(binary.http, access, 'GET', path, 200);
    expect(JSON.stringify(ledger)).toContain('Checkout-Service/1.4.0');
  });

  test.each<[string, Behaviour]>([
    ['the server is unreachable', 'refuse'],
    ['answers are lost', 'lose'],
    ['the server answers 503', 503],
    ['the server answers 429', 429],
  ])('counts once what is evaluated while %s', async (name, behaviour) => {
    const app = await open(name);
    await app.act('evaluate', 'checkout', 'ada', 10);
    await app.act('flush');
    host.behave(behaviour);
    await app.act('evaluate', 'checkout', 'ada', 100);
    await vi.waitFor(() => expect(host.requests).toBeGreaterThan(1), 30_000);
    await app.act('evaluate', 'checkout', 'ada', 50);
    await app.act('track', 'paid', 'ada', { flag: 'checkout' });
    host.behave('forward');
    await vi.waitFor(async () => {
      await app.act('flush');
      expect(await counts(name)).toEqual({ checkout: [['on', 160, 1]] });
    }, 30_000);
  });

  test('counts once what is evaluated across a crash of the server', async () => {
    const app = await open('crash');
    host.behave('lose');
    await app.act('evaluate', 'checkout', 'ada', 100);
    await vi.waitFor(() => expect(host.requests).toBeGreaterThan(0), 30_000);
    await stop(binary, 'SIGKILL');
    await app.act('evaluate', 'checkout', 'ada', 50);
    await app.act('flush');
    binary = await startBinary({ data });
    // Tokens name the address of the server, whose port is new.
    access = await token(binary.http, credentials);
    host.behave('forward', binary.http);
    await vi.waitFor(async () => {
      await app.act('flush');
      expect(await counts('crash')).toEqual({ checkout: [['on', 150, 0]] });
    }, 30_000);
  });

  test('sends what waits when OpenFeature is closed', async () => {
    const app = await open('closed', { seconds: 3600 });
    await app.act('evaluate', 'checkout', 'ada', 5);
    await app.act('close');
    expect(await counts('closed')).toEqual({ checkout: [['on', 5, 0]] });
  });

  test('sends what waits when the process ends by itself', async () => {
    const app = await open('ended', { seconds: 3600 });
    await app.act('evaluate', 'checkout', 'ada', 5);
    expect(await app.end()).toBe(0);
    expect(await counts('ended')).toEqual({ checkout: [['on', 5, 0]] });
  });

  test('does not keep a process running while the server is unreachable', async () => {
    const app = await open('unreachable');
    host.behave('refuse');
    await app.act('evaluate', 'checkout', 'ada', 5);
    expect(await app.end()).toBe(0);
    host.behave('forward');
  });
});
