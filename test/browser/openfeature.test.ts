import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import {
  type Binary,
  type Credentials,
  cleanUp,
  createApplication,
  createKey,
  freshDirectory,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { createEnvironment, type Owner, readCounts } from '../support/environment.ts';
import { needing } from '../support/needing.ts';
import { buildWebApp, openFeatureSdks } from '../support/openfeature.ts';
import { type Behaviour, startUnreliableHost, type UnreliableHost } from '../support/unreliable-host.ts';
import { connectChromium } from './support/chromium.ts';
import { type PageServer, startPageServer } from './support/pages.ts';

const { describe, test } = needing('chromium-headless-shell', openFeatureSdks);

describe("the web SDK with flagmeter's hook", () => {
  const data = `${freshDirectory()}/data`;
  let browser: Browser;
  let context: BrowserContext;
  let pages: PageServer;
  let credentials: Credentials;
  let binary: Binary;
  let owner: Owner;
  let key: string;
  const hosts: UnreliableHost[] = [];

  beforeAll(async () => {
    browser = await connectChromium();
    context = await browser.newContext();
    pages = await startPageServer();
    const html = `<!doctype html><title>A shop</title><script type="module">${await buildWebApp()}</script>`;
    pages.put('/', { html });
    credentials = await prepare(data);
    binary = await startBinary({ data });
    const { http } = binary;
    const access = await token(http, credentials);
    const fields = { name: 'Shop', allowedOrigins: [pages.origin] };
    owner = { http, access, application: await createApplication(http, access, fields) };
    ({ key } = await createKey(http, access, owner.application, 'Frontend'));
  });
  afterAll(async () => {
    await browser?.close();
    pages?.close();
    for (const host of hosts) host.close();
    cleanUp();
  });

  /** Opens a page with the SDK as `app`. The page has its own environment and its own metrics host. */
  async function open(options: object = {}, script = '') {
    const environment = await createEnvironment(owner);
    const host = await startUnreliableHost(owner.http);
    hosts.push(host);
    const page = await context.newPage();
    await page.addInitScript(script);
    await page.goto(pages.origin);
    await page.waitForFunction('window.start !== undefined');
    const given = { url: host.url, key, environment, ...options };
    await page.evaluate(`start(${JSON.stringify(given)}).then((app) => { window.app = app; })`);
    return { page, host, environment };
  }

  const evaluate = (times: number) => `for (let each = 0; each < ${times}; each += 1)
    app.client.getBooleanValue('checkout', false);`;

  test('the OpenFeature hook counts each evaluation by variant, and each tracking event as a use', async () => {
    const { page, environment } = await open();
    await page.evaluate(`(() => {
      ${evaluate(3)}
      app.client.getBooleanValue('retired', true);
      app.client.getBooleanValue('unknown', true);
      app.client.getStringValue('banner', 'none');
      app.client.track('paid', { flag: 'checkout' });
      return app.meter.flush();
    })()`);
    expect(await readCounts(owner, environment)).toEqual({
      checkout: [['on', 3, 1]],
      retired: [['enabled', 1, 0]],
      unknown: [['(error)', 1, 0]],
      banner: [['blue', 1, 0]],
    });
    await page.close();
  });

  describe.concurrent('the hook during an outage', () => {
    test.each<[string, Behaviour]>([
      ['the server is unreachable', 'refuse'],
      ['the server responds with 503', 503],
      ['the server responds with 429', 429],
    ])('the OpenFeature hook counts evaluations once, even if %s for a while', async (_, behaviour) => {
      const { page, host, environment } = await open({ seconds: 1 });
      host.behave(behaviour);
      await page.evaluate(evaluate(100));
      await page.evaluate('app.meter.flush()');
      await vi.waitFor(() => expect(host.requests).toBeGreaterThan(1));
      await page.evaluate(evaluate(50));
      host.behave('forward');
      await page.evaluate('app.meter.flush()');
      expect(await readCounts(owner, environment)).toEqual({ checkout: [['on', 150, 0]] });
      await page.close();
    });

    test('the OpenFeature hook sends a packet again if its response is lost, so the packet is counted twice', async () => {
      const { page, host, environment } = await open({ seconds: 3600 });
      host.behave('lose', 'forward');
      await page.evaluate(evaluate(100));
      await page.evaluate('app.meter.flush()');
      await page.evaluate(evaluate(50));
      await page.evaluate('app.meter.flush()');
      expect(await readCounts(owner, environment)).toEqual({ checkout: [['on', 250, 0]] });
      await page.close();
    });
  });

  const close = (page: Page) => page.close({ runBeforeUnload: true });
  test.each<[string, (page: Page) => Promise<unknown>, string]>([
    ['left', (page) => page.goto('about:blank'), ''],
    ['closed', close, ''],
    ['closed, without `keepalive`', close, 'delete Request.prototype.keepalive'],
    ['closed, without beacons', close, 'delete Navigator.prototype.sendBeacon'],
  ])('the OpenFeature hook sends waiting counts when the page is %s', async (_, leave, script) => {
    const { page, environment } = await open({ seconds: 3600 }, script);
    await page.evaluate(evaluate(100));
    await leave(page);
    const expected = { checkout: [['on', 100, 0]] };
    await vi.waitFor(async () => expect(await readCounts(owner, environment)).toEqual(expected));
    await page.close();
  });

  test('the OpenFeature hook sends waiting counts when the page is closed after an outage', async () => {
    const { page, host, environment } = await open({ seconds: 3600 });
    host.behave(503, 'forward');
    await page.evaluate(evaluate(100));
    await page.evaluate('app.meter.flush()');
    await close(page);
    const expected = { checkout: [['on', 100, 0]] };
    await vi.waitFor(async () => expect(await readCounts(owner, environment)).toEqual(expected));
    await page.close();
  });

  test('the OpenFeature hook sends waiting counts when OpenFeature is closed', async () => {
    const { page, environment } = await open({ seconds: 3600 });
    await page.evaluate(`(() => { ${evaluate(5)} return app.OpenFeature.close(); })()`);
    expect(await readCounts(owner, environment)).toEqual({ checkout: [['on', 5, 0]] });
    await page.close();
  });

  test('the OpenFeature hook counts evaluations once, even if the server restarts', async () => {
    const { page, host, environment } = await open({ seconds: 1 });
    await page.evaluate(evaluate(100));
    await page.evaluate('app.meter.flush()');
    await stop(binary);
    await page.evaluate(evaluate(50));
    await page.evaluate('app.meter.flush()');
    binary = await startBinary({ data });
    owner = { ...owner, http: binary.http, access: await token(binary.http, credentials) };
    host.target = binary.http;
    await page.evaluate('app.meter.flush()');
    expect(await readCounts(owner, environment)).toEqual({ checkout: [['on', 150, 0]] });
    await page.close();
  });
});
