import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type Binary,
  cleanUp,
  createApplication,
  createKey,
  freshDirectory,
  prepare,
  startBinary,
  token,
  usage,
} from '../support/binary.ts';
import { snippet } from '../support/service.ts';
import { launchChromium } from './support/chromium.ts';
import { type PageServer, startPageServer } from './support/pages.ts';
import { openWithSnippet } from './support/snippet-page.ts';

let browser: Browser;
let pages: PageServer;

beforeAll(async () => {
  browser = await launchChromium();
  pages = await startPageServer();
});
afterAll(async () => {
  await browser.close();
  pages.close();
  cleanUp();
});

test('the snippet has at most 1536 bytes, gzipped', () => {
  const { length } = gzipSync(snippet.script, { level: 9 });
  console.log(`snippet.js: ${length} bytes gzipped`);
  expect(length).toBeLessThanOrEqual(1536);
});

describe('with a real server', () => {
  let binary: Binary;
  let key: string;
  let read: (feature: string) => Promise<unknown>;

  beforeAll(async () => {
    const data = `${freshDirectory()}/data`;
    const credentials = await prepare(data);
    binary = await startBinary({ data, args: ['--metrics-path-prefix', '/t'] });
    const access = await token(binary.http, credentials);
    const application = await createApplication(binary.http, access, {
      name: 'Shop',
      allowedOrigins: [pages.origin],
      acceptClientIdentities: true,
    });
    ({ key } = await createKey(binary.http, access, application, 'Frontend'));
    read = async (feature) => {
      const range = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
      const query = { environment: 'Production', step: 'hour', feature, ...range } as const;
      const { features } = await usage(binary.http, access, application, query);
      return features.map(({ variants, uniqueUsers }) => [
        ...variants.map(({ variant, checks, used, viewed }) => [variant, checks, used, viewed]),
        uniqueUsers,
      ])[0];
    };
  });

  test('counts what a page of another origin tells it, and adds up', async () => {
    const { page, problems } = await openWithSnippet(browser, pages, `http://${binary.http}`, {
      key,
      environment: 'Production',
      identity: 'ada',
    });
    await page.evaluate(`(async () => {
      for (let each = 0; each < 100; each += 1) flags.checked('checkout', 'on');
      flags.used('checkout', 'on'); flags.viewed('checkout', 'on'); flags.checked('checkout', 'off');
      await flags.flush();
    })()`);
    expect(await read('checkout')).toEqual([['on', 100, 1, 1], ['off', 1, 0, 0], 1]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('counts below the path prefix, on a page with a strict Content-Security-Policy', async () => {
    const host = `http://${binary.http}`;
    const csp = `default-src 'none'; script-src 'nonce-page' 'strict-dynamic'; connect-src ${host}`;
    const { page, problems } = await openWithSnippet(
      browser,
      pages,
      `${host}/t`,
      { key, environment: 'Production' },
      { path: '/csp', csp },
    );
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.evaluate(`flags.checked('strict', 'on'), flags.flush()`);
    expect(await read('strict')).toEqual([['on', 1, 0, 0], 0]);
    expect(asked).toEqual(['/t/api/frontend/telemetry']);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('sends what it has when the page is left', async () => {
    const { page } = await openWithSnippet(browser, pages, `http://${binary.http}`, {
      key,
      environment: 'Production',
    });
    await page.evaluate(`flags.checked('leaving', 'on')`);
    await page.goto('about:blank');
    await vi.waitFor(async () => expect(await read('leaving')).toEqual([['on', 1, 0, 0], 0]), {
      timeout: 10_000,
    });
    await page.close();
  });

  test('sends it as a beacon where fetch does not outlive a page', async () => {
    const before = 'delete Request.prototype.keepalive';
    const { page } = await openWithSnippet(
      browser,
      pages,
      `http://${binary.http}`,
      { key, environment: 'Production' },
      { path: '/old', before },
    );
    await page.evaluate(`flags.checked('beacon', 'on')`);
    await page.goto('about:blank');
    await vi.waitFor(async () => expect(await read('beacon')).toEqual([['on', 1, 0, 0], 0]), {
      timeout: 10_000,
    });
    await page.close();
  });

  test('says once that its counts are refused, and goes on', async () => {
    const { page, problems } = await openWithSnippet(browser, pages, `http://${binary.http}`, {
      key,
      environment: 'Nowhere',
    });
    await page.evaluate(`(async () => {
      flags.checked('lost', 'on'); await flags.flush();
      flags.checked('lost', 'on'); await flags.flush();
    })()`);
    const own = problems.filter((text) => text.startsWith('flagmeter:'));
    expect(own).toEqual([
      `flagmeter: http://${binary.http}/api/frontend/telemetry answered 404, so counts are lost`,
    ]);
    await page.close();
  });

  test('is served with types, a tag, and to pages of any origin', async () => {
    const script = await fetch(`http://${binary.http}/snippet.js`);
    expect(await script.text()).toBe(snippet.script);
    expect(script.headers.get('access-control-allow-origin')).toBe('*');
    const tag = script.headers.get('etag')!;
    const again = await fetch(`http://${binary.http}/t/snippet.js`, { headers: { 'if-none-match': tag } });
    expect(again.status).toBe(304);
    const types = await fetch(`http://${binary.http}/snippet.d.ts`);
    expect(await types.text()).toContain('export declare function flagmeter(options: Options): Sender;');
  });
});
