import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, vi } from 'vitest';
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
import { needing } from '../support/needing.ts';
import { snippet } from '../support/service.ts';
import { connectChromium } from './support/chromium.ts';
import { type PageServer, startPageServer } from './support/pages.ts';
import { openWithSnippet } from './support/snippet-page.ts';

const { describe, test } = needing('chromium-headless-shell');

let browser: Browser;
let context: BrowserContext;
let pages: PageServer;

beforeAll(async () => {
  browser = await connectChromium();
  context = await browser.newContext();
  pages = await startPageServer();
});
afterAll(async () => {
  await browser.close();
  pages.close();
  cleanUp();
});

test('the size of the snippet is at most 1536 bytes after gzip', () => {
  const { length } = gzipSync(snippet.script, { level: 9 });
  console.log(`snippet.js: ${length} bytes gzipped`);
  expect(length).toBeLessThanOrEqual(1536);
});

describe('the snippet with a real server', () => {
  let binary: Binary;
  let key: string;
  let read: (feature: string) => Promise<unknown>;
  /** Returns the checks of all features in an environment. */
  let total: (environment: string) => Promise<number>;

  beforeAll(async () => {
    const data = `${freshDirectory()}/data`;
    const credentials = await prepare(data);
    binary = await startBinary({ data, args: ['--metrics-path-prefix', '/t'] });
    const access = await token(binary.http, credentials);
    const application = await createApplication(binary.http, access, {
      name: 'Shop',
      allowedOrigins: [pages.origin],
      acceptClientIdentities: true,
      environments: ['Production', 'Staging', 'Development', 'Closing'],
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
    total = async (environment) => {
      const range = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
      const { features } = await usage(binary.http, access, application, { environment, step: 'hour', ...range });
      return features.reduce((sum, { checks }) => sum + checks, 0);
    };
  });

  test('the snippet counts on a page of another origin', async () => {
    const { page, errors } = await openWithSnippet(context, pages, `http://${binary.http}`, {
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
    expect(errors).toEqual([]);
    await page.close();
  });

  test.each([
    ['a number', '42', 1],
    ['a boolean', 'true', 1],
    ['null', 'null', 0],
    ['not a number', 'NaN', 0],
    ['an object', '({})', 0],
    ['a symbol', 'Symbol()', 0],
    ['a large integer', '12345678901234567890n', 1],
    ['empty', '""', 0],
    ['too long', '"x".repeat(300)', 0],
    ['longer than a packet', '"x".repeat(100_000)', 0],
    ['half a surrogate pair', '"\\ud800"', 0],
  ])('the snippet counts checks even if the identity is %s', async (name, identity, users) => {
    const { page, errors } = await openWithSnippet(context, pages, `http://${binary.http}`, {});
    await page.evaluate(`(() => {
      const flags = flagmeter({ key: '${key}', environment: 'Production', identity: ${identity} });
      flags.checked('identity ${name}', 'on');
      return flags.flush();
    })()`);
    expect(await read(`identity ${name}`)).toEqual([['on', 1, 0, 0], users]);
    expect(errors).toEqual([]);
    await page.close();
  });

  test('the snippet counts valid names and values, and omits invalid names and values', async () => {
    const { page, errors } = await openWithSnippet(context, pages, `http://${binary.http}`, {
      key,
      environment: 'Production',
    });
    await page.evaluate(`(() => {
      for (const bad of ['\\ud800', '', 'a\\u0000', 'é'.repeat(200), Symbol(), Object.create(null)]) {
        flags.checked(bad, 'on'); flags.checked('neighbour', bad); flags.add(bad); flags.set('gauge', bad);
      }
      flags.add('neighbour\\non');
      flags.checked(7, true); flags.add('sum', NaN); flags.add('sum', 1e400); flags.checked('neighbour', 'on');
      return flags.flush();
    })()`);
    expect(await read('neighbour')).toEqual([['on', 1, 0, 0], 0]);
    expect(await read('7')).toEqual([['true', 1, 0, 0], 0]);
    expect(errors).toEqual([]);
    await page.close();
  });

  test('the promise of flush resolves when all names have been received', async () => {
    const { page } = await openWithSnippet(context, pages, `http://${binary.http}`, { key, environment: 'Staging' });
    await page.evaluate(`(() => {
      for (let at = 0; at < 800; at += 1) flags.checked('a-feature-of-this-page-' + at, 'enabled');
      return flags.flush();
    })()`);
    expect(await total('Staging')).toBe(800);
    await page.close();
  });

  test.each([
    ['is left', 'Development', (page: Page) => page.goto('about:blank')],
    ['is closed', 'Closing', (page: Page) => page.close({ runBeforeUnload: true })],
  ])('the snippet sends 900 names even if the page %s immediately', async (_, environment, leave) => {
    const { page } = await openWithSnippet(context, pages, `http://${binary.http}`, { key, environment });
    await page.evaluate(`for (let at = 0; at < 900; at += 1) flags.checked('a-feature-of-this-page-' + at, 'enabled')`);
    await leave(page);
    await vi.waitFor(async () => expect(await total(environment)).toBe(900));
    await page.close();
  });

  test('the snippet works below a path prefix, and on a page with a strict Content-Security-Policy', async () => {
    const host = `http://${binary.http}`;
    const csp = `default-src 'none'; script-src 'nonce-page' 'strict-dynamic'; connect-src ${host}`;
    const { page, errors } = await openWithSnippet(
      context,
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
    expect(errors).toEqual([]);
    await page.close();
  });

  test('the snippet sends its counts when the page is left', async () => {
    const { page } = await openWithSnippet(context, pages, `http://${binary.http}`, { key, environment: 'Production' });
    await page.evaluate(`flags.checked('leaving', 'on')`);
    await page.goto('about:blank');
    await vi.waitFor(async () => expect(await read('leaving')).toEqual([['on', 1, 0, 0], 0]));
    await page.close();
  });

  test.each(['pagehide', 'visibilitychange'])('the snippet sends counts added during %s', async (event) => {
    const { page } = await openWithSnippet(context, pages, `http://${binary.http}`, { key, environment: 'Production' });
    const target = event === 'pagehide' ? 'window' : 'document';
    await page.evaluate(`${target}.addEventListener('${event}', () => flags.used('${event}', 'on'))`);
    await page.goto('about:blank');
    await vi.waitFor(async () => expect(await read(event)).toEqual([['on', 0, 1, 0], 0]));
    await page.close();
  });

  test('the snippet sends counts as a beacon if the browser has no fetch with keepalive', async () => {
    const before = 'delete Request.prototype.keepalive';
    const { page } = await openWithSnippet(
      context,
      pages,
      `http://${binary.http}`,
      { key, environment: 'Production' },
      { path: '/old', before },
    );
    await page.evaluate(`flags.checked('beacon', 'on')`);
    await page.goto('about:blank');
    await vi.waitFor(async () => expect(await read('beacon')).toEqual([['on', 1, 0, 0], 0]));
    await page.close();
  });

  test('the snippet warns once about refused counts, and continues', async () => {
    const { page, errors } = await openWithSnippet(context, pages, `http://${binary.http}`, {
      key,
      environment: 'Nowhere',
    });
    await page.evaluate(`(async () => {
      flags.checked('lost', 'on'); await flags.flush();
      flags.checked('lost', 'on'); await flags.flush();
    })()`);
    const own = errors.filter((text) => text.startsWith('flagmeter:'));
    expect(own).toEqual([`flagmeter: http://${binary.http}/api/frontend/telemetry: status 404; counts are lost`]);
    await page.close();
  });

  test('the server offers the snippet to all origins, with an entity tag and type declarations', async () => {
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
