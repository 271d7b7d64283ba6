import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import {
  type Binary,
  cleanUp,
  createApplication,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  token,
  usage,
} from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { buildWebApp, openFeatureSdks } from '../support/openfeature.ts';
import { launchChromium } from './support/chromium.ts';
import { type PageServer, startPageServer } from './support/pages.ts';

const { describe, test } = needing('chromium', openFeatureSdks);

describe("the web SDK with flagmeter's hook", () => {
  let browser: Browser;
  let pages: PageServer;
  let binary: Binary;
  let access: string;
  let application: string;
  let key: string;

  beforeAll(async () => {
    browser = await launchChromium();
    pages = await startPageServer();
    const html = `<!doctype html><title>A shop</title><script type="module">${await buildWebApp()}</script>`;
    pages.put('/', { html });
    const data = `${freshDirectory()}/data`;
    const credentials = await prepare(data);
    binary = await startBinary({ data });
    access = await token(binary.http, credentials);
    const fields = { name: 'Shop', allowedOrigins: [pages.origin] };
    application = await createApplication(binary.http, access, fields);
    ({ key } = await createKey(binary.http, access, application, 'Frontend'));
  });
  afterAll(async () => {
    await browser?.close();
    pages?.close();
    cleanUp();
  });

  /** Opens a page that reports to an environment of its own, as `app`. */
  async function open(environment: string, options: object = {}): Promise<Page> {
    const path = `/api/v2/applications/${application}/environments`;
    await manage(binary.http, access, 'POST', path, 201, { name: environment });
    const page = await browser.newPage();
    await page.goto(pages.origin);
    const given = { url: `http://${binary.http}`, key, environment, ...options };
    await page.waitForFunction('window.start !== undefined');
    await page.evaluate(`start(${JSON.stringify(given)}).then((app) => { window.app = app; })`);
    return page;
  }

  /** `[variant, checks, used]` by feature. */
  async function counts(environment: string): Promise<Record<string, unknown>> {
    const range = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
    const query = { environment, step: 'hour', ...range } as const;
    const { features } = await usage(binary.http, access, application, query);
    return Object.fromEntries(
      features.map(({ feature, variants }) => [
        feature,
        variants.map(({ variant, checks, used }) => [variant, checks, used]),
      ]),
    );
  }

  const evaluate = (times: number) => `for (let each = 0; each < ${times}; each += 1)
    app.client.getBooleanValue('checkout', false);`;

  test('counts each evaluation by its variant, and tracking events as uses', async () => {
    const page = await open('variants');
    await page.evaluate(`(() => {
      ${evaluate(3)}
      app.client.getBooleanValue('retired', true);
      app.client.getBooleanValue('unknown', true);
      app.client.getStringValue('banner', 'none');
      app.client.track('paid', { flag: 'checkout' });
      return app.meter.flush();
    })()`);
    expect(await counts('variants')).toEqual({
      checkout: [['on', 3, 1]],
      retired: [['enabled', 1, 0]],
      unknown: [['(error)', 1, 0]],
      banner: [['blue', 1, 0]],
    });
    await page.close();
  });

  test.each<[string, number | undefined]>([
    ['the server is unreachable', undefined],
    ['the server answers 503', 503],
    ['the server answers 429', 429],
  ])('counts once what is evaluated while %s', async (name, status) => {
    const page = await open(name, { seconds: 1 });
    let requests = 0;
    const headers = { 'access-control-allow-origin': '*' };
    await page.route('**/api/frontend/telemetry', (route) => {
      requests += 1;
      return status === undefined ? route.abort() : route.fulfill({ status, headers });
    });
    await page.evaluate(evaluate(100));
    await vi.waitFor(() => expect(requests).toBeGreaterThan(1), 30_000);
    await page.evaluate(evaluate(50));
    await page.unrouteAll({ behavior: 'wait' });
    await page.evaluate('app.meter.flush()');
    await vi.waitFor(async () => expect(await counts(name)).toEqual({ checkout: [['on', 150, 0]] }), 30_000);
    await page.close();
  });

  test.each([
    ['left', (page: Page) => page.goto('about:blank')],
    ['closed', (page: Page) => page.close({ runBeforeUnload: true })],
  ])('sends what waits when the page is %s', async (name, leave) => {
    const page = await open(name, { seconds: 3600 });
    await page.evaluate(evaluate(100));
    await leave(page);
    await vi.waitFor(async () => expect(await counts(name)).toEqual({ checkout: [['on', 100, 0]] }), 30_000);
    await page.close();
  });

  test('sends what waits when OpenFeature is closed', async () => {
    const page = await open('shutdown', { seconds: 3600 });
    await page.evaluate(`(() => { ${evaluate(5)} return app.OpenFeature.close(); })()`);
    expect(await counts('shutdown')).toEqual({ checkout: [['on', 5, 0]] });
    await page.close();
  });
});
