import { join } from 'node:path';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import {
  type Binary,
  type Credentials,
  cleanUp,
  createApplication,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { buildPage } from '../support/build-page.ts';
import { createEnvironment, type Owner, readCounts } from '../support/environment.ts';
import { needing } from '../support/needing.ts';
import { type Behaviour, startUnreliableHost, type UnreliableHost } from '../support/unreliable-host.ts';
import { skippedWorkspaces } from '../support/workspaces.ts';
import { connectChromium } from './support/chromium.ts';
import { unleashSite } from './support/unleash-site.ts';

const { describe, test } = needing('chromium-headless-shell', { why: skippedWorkspaces.get('test/sources') });

/** Scripts of pages. Each has a function `start`. */
const programs = ['client', 'react'] as const;

describe("Unleash's SDK for pages", () => {
  const data = `${freshDirectory()}/data`;
  let browser: Browser;
  let context: BrowserContext;
  const scripts = new Map<string, string>();
  let credentials: Credentials;
  let binary: Binary;
  let owner: Owner;
  const hosts: UnreliableHost[] = [];

  beforeAll(async () => {
    browser = await connectChromium();
    context = await browser.newContext();
    for (const name of programs)
      scripts.set(`/${name}`, await buildPage(join(import.meta.dirname, `../sources/pages/${name}.ts`)));
    credentials = await prepare(data);
    binary = await startBinary({ data });
    const { http } = binary;
    const access = await token(http, credentials);
    const fields = { name: 'Shop', allowedOrigins: ['http://localhost:*', 'http://127.0.0.1:*'] };
    owner = { http, access, application: await createApplication(http, access, fields) };
  });
  afterAll(async () => {
    await browser?.close();
    for (const host of hosts) host.close();
    cleanUp();
  });

  /** Opens a page whose SDK reports to its own environment through its own host, by default of another origin. */
  async function open({
    program = 'client' as (typeof programs)[number],
    metricsInterval = 1,
    isSameOrigin = false,
  } = {}) {
    const environment = await createEnvironment(owner);
    const clientKey = `*:production.${environment.replace(' ', '-')}-0123456789`;
    const adopted = { token: clientKey, type: 'Frontend', environment };
    const { http, access, application } = owner;
    await manage(http, access, 'POST', `/api/v2/applications/${application}/keys/adopt`, 201, adopted);
    const host = await startUnreliableHost(owner.http, unleashSite(scripts));
    hosts.push(host);
    const page = await context.newPage();
    const responses = recordResponses(page);
    const origin = isSameOrigin ? host.url : host.url.replace('127.0.0.1', 'localhost');
    await page.goto(`${origin}/${program}`);
    const config = {
      url: `${host.url}/api/frontend`,
      clientKey,
      appName: 'shop',
      metricsInterval,
      metricsIntervalInitial: 0,
      refreshInterval: 0,
    };
    await page.evaluate(`start(${JSON.stringify(config)}).then((check) => { window.check = check; })`);
    return { page, host, environment, answered: responses };
  }

  const countsBecome = (environment: string, expected: object) =>
    vi.waitFor(async () => expect(await readCounts(owner, environment)).toEqual(expected));

  /** Returns the expected counts after each flag was checked the given number of times. */
  const expectedCounts = (checkout: number, search = checkout, banner = checkout) => ({
    checkout: [['enabled', checkout, 0]],
    search: [['disabled', search, 0]],
    banner: [['blue', banner, 0]],
  });

  describe.concurrent('the SDK on concurrent pages', () => {
    test('the Unleash SDK counts each check after a preflight', async () => {
      const { page, host, environment } = await open();
      await page.evaluate('check(3)');
      await countsBecome(environment, expectedCounts(3));
      await page.evaluate('check(4)');
      await countsBecome(environment, expectedCounts(7));
      const headers = 'authorization,content-type,unleash-appname,unleash-connection-id,unleash-sdk';
      expect([...new Set(host.preflights)]).toEqual([headers]);
      await page.close();
    });

    test('the Unleash SDK for React sends reports that are counted', async () => {
      const { page, environment, answered } = await open({ program: 'react' });
      for (const products of [3, 4]) {
        const before = answered().length;
        await page.evaluate(`check(${products})`);
        await vi.waitFor(() => expect(answered().length).toBeGreaterThan(before));
      }
      // A component checks its flags during each rendering, and once more after the last rendering.
      const sum = (read: (toggles: Toggles) => number) =>
        answered().reduce((total, { toggles }) => total + read(toggles), 0);
      await vi.waitFor(async () => {
        const checkout = sum((toggles) => toggles['checkout']?.yes ?? 0);
        const search = sum((toggles) => toggles['search']?.no ?? 0);
        const banner = sum((toggles) => toggles['banner']?.variants['blue'] ?? 0);
        expect(checkout).toBeGreaterThanOrEqual(7);
        expect(await readCounts(owner, environment)).toEqual(expectedCounts(checkout, search, banner));
      });
      expect(new Set(answered().map(({ status }) => status))).toEqual(new Set([202]));
      await page.close();
    });

    test.each<[string, Behaviour]>([
      ['the server is unreachable', 'refuse'],
      ['the server responds with 503', 503],
      ['the server responds with 429', 429],
    ])('the Unleash SDK does not repeat a report if %s, and later reports are counted once', async (_, behaviour) => {
      const { page, host, environment, answered } = await open();
      await page.evaluate('check(1)');
      await countsBecome(environment, expectedCounts(1));
      host.behave(behaviour);
      await page.evaluate('check(10)');
      // Chromium itself repeats a request on a reused connection before the page learns that the request has failed.
      const status = typeof behaviour === 'number' ? behaviour : 0;
      await vi.waitFor(() => expect(answered().at(-1)?.status).toBe(status));
      host.behave('forward');
      await page.evaluate('check(5)');
      await countsBecome(environment, expectedCounts(6));
      await page.close();
    });

    test('a report of the Unleash SDK is counted once if its response is lost', async () => {
      const { page, host, environment } = await open();
      host.behave('lose');
      await page.evaluate('check(10)');
      await countsBecome(environment, expectedCounts(10));
      host.behave('forward', 'lose', 'forward');
      // Chromium itself repeats a request whose response is lost on a reused connection.
      for (const count of [1, 2, 3]) {
        await page.evaluate('check(1)');
        await countsBecome(environment, expectedCounts(10 + count));
      }
      await page.close();
    });

    test('flagmeter counts the report that the Unleash SDK sends when its page is hidden', async () => {
      const { page, environment } = await open({ metricsInterval: 3600 });
      await page.evaluate(`(() => {
      check(100);
      Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
      document.dispatchEvent(new Event('visibilitychange'));
    })()`);
      await countsBecome(environment, expectedCounts(100));
      await page.close();
    });

    const leave = (page: Page) => page.goto('about:blank');
    const close = (page: Page) => page.close({ runBeforeUnload: true });
    test.each<[string, string, (page: Page) => Promise<unknown>, boolean]>([
      ['the origin of the page', 'left', leave, true],
      ['the origin of the page', 'closed', close, true],
      ['another origin', 'left', leave, false],
      ['another origin', 'closed', close, false],
    ])('a report of the Unleash SDK to %s is counted when the page is %s', async (_, __, end, isSameOrigin) => {
      const { page, host, environment } = await open({ metricsInterval: 3600, isSameOrigin });
      await page.evaluate('check(100)');
      await end(page);
      await countsBecome(environment, expectedCounts(100));
      if (isSameOrigin) expect(host.preflights).toEqual([]);
      await page.close();
    });
  });

  test('the Unleash SDK continues to count after a restart of the server', async () => {
    const { page, host, environment } = await open();
    await page.evaluate('check(3)');
    await countsBecome(environment, expectedCounts(3));
    await stop(binary);
    binary = await startBinary({ data });
    owner = { ...owner, http: binary.http, access: await token(binary.http, credentials) };
    host.target = binary.http;
    await page.evaluate('check(4)');
    await countsBecome(environment, expectedCounts(7));
    await page.close();
  });
});

type Toggles = Record<string, { yes: number; no: number; variants: Record<string, number> }>;

interface ReportResponse {
  /** Status of the response; 0 if there is no response. */
  readonly status: number;
  readonly toggles: Toggles;
}

/** Collects the responses to the reports of a page. */
function recordResponses(page: Page): () => readonly ReportResponse[] {
  const responses = new Map<Request, ReportResponse>();
  const add = (request: Request, status: number) => {
    // The SDK does not read the body of a response, so its request can also be reported as failed.
    if (request.method() === 'POST' && !responses.has(request))
      responses.set(request, { status, toggles: request.postDataJSON().bucket.toggles });
  };
  page.on('response', (response) => add(response.request(), response.status()));
  page.on('requestfailed', (request) => add(request, 0));
  return () => [...responses.values()];
}
