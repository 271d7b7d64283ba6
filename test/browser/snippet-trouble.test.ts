import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { needing } from '../support/needing.ts';
import { snippet } from '../support/service.ts';
import { connectChromium } from './support/chromium.ts';
import { type FlakyHost, type PageServer, startFlakyHost, startPageServer } from './support/pages.ts';
import { openWithSnippet } from './support/snippet-page.ts';

const { describe, test } = needing('chromium-headless-shell');

let browser: Browser;
let pages: PageServer;

beforeAll(async () => {
  browser = await connectChromium();
  pages = await startPageServer();
});
afterAll(async () => {
  await browser.close();
  pages.close();
});

describe('the snippet with a server in trouble', () => {
  let host: FlakyHost;
  beforeAll(async () => {
    host = await startFlakyHost(snippet.script);
  });
  afterAll(() => host.close());
  beforeEach(() => {
    (host.received as unknown[]).length = 0;
    host.respondWith();
  });

  /** Opens a page with the snippet, whose timers are controlled by the test. */
  async function openWithClock(options: object = {}) {
    const page = await browser.newPage();
    await page.clock.install();
    await page.addInitScript(`window.unanswered = 0; const send = fetch; window.fetch = (...given) => {
      window.unanswered += 1; return send(...given).finally(() => { window.unanswered -= 1; }); }`);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    const code = `import { flagmeter } from '${host.url}/snippet.js';
      window.flags = flagmeter(${JSON.stringify({ key: 'fm_fe_x', environment: 'Production', ...options })});`;
    pages.put('/clock', { html: `<!doctype html><script type="module">${code}</script>` });
    await page.goto(`${pages.origin}/clock`);
    await vi.waitFor(async () => expect(await page.evaluate('window.flags !== undefined')).toBe(true), 10_000);
    await page.clock.pauseAt(Date.now() + 60_000);
    /** Waits until the host has received this number of requests, and the page has received their responses. */
    const settled = (requests: number) =>
      vi.waitFor(async () => {
        expect([host.received.length, await page.evaluate('window.unanswered')]).toEqual([requests, 0]);
      });
    return { page, errors, settled };
  }

  const counts = () => host.received.map(({ body, status }) => [status, JSON.parse(body).f]);

  test('the snippet sends nothing for ten seconds, and then sends one packet', async () => {
    const { page, settled } = await openWithClock();
    await page.evaluate(`flags.checked('a', 'on'); flags.checked('b', 'on')`);
    await page.clock.runFor(9_900);
    expect(host.received).toHaveLength(0);
    await page.clock.runFor(200);
    await settled(1);
    expect(counts()).toEqual([[202, { a: { on: [1, 0, 0] }, b: { on: [1, 0, 0] } }]]);
    const [{ path, headers }] = host.received as [(typeof host.received)[0]];
    expect(path).toBe('/api/frontend/telemetry');
    expect(headers['content-type']).toBe('text/plain;charset=UTF-8'); // This content type needs no preflight.
    expect(headers.cookie).toBeUndefined();
    await page.close();
  });

  // The pause is 20 s after one failure and 40 s after two failures, times a random factor from 0.5 to 1.5.
  test.each([
    [429, 'shortest', 0, 10_000, 20_000],
    [503, 'longest', 1, 30_000, 60_000],
  ])('the snippet keeps counts after status %i, and waits longer each time (%s pauses)', async (...row) => {
    const [status, , random, first, second] = row;
    const { page, errors, settled } = await openWithClock();
    await page.evaluate(`Math.random = () => ${random}`);
    host.respondWith(status, status);
    await page.evaluate(`flags.checked('a', 'on'); flags.set('gauge', 1); flags.add('sum', 2); flags.flush()`);
    await page.evaluate(`flags.checked('a', 'on'); flags.set('gauge', 7); flags.add('sum', 3)`);
    await page.clock.runFor(first - 100);
    expect(host.received).toHaveLength(1);
    await page.clock.runFor(200);
    await settled(2);
    await page.clock.runFor(second - 200);
    expect(host.received).toHaveLength(2);
    await page.clock.runFor(300);
    await settled(3);
    const { f, m } = JSON.parse(host.received[2]!.body);
    expect([f, m]).toEqual([{ a: { on: [2, 0, 0] } }, { gauge: 7, sum: 5 }]);
    expect(errors).toEqual([]);
    await page.close();
  });

  test('the snippet keeps its counts while the network is down', async () => {
    const { page, errors, settled } = await openWithClock();
    await page.context().setOffline(true);
    await page.evaluate(`flags.checked('a', 'on'), flags.flush()`);
    await page.evaluate(`flags.checked('a', 'on')`);
    await page.context().setOffline(false);
    await page.clock.runFor(30_100);
    await settled(1);
    expect(counts()).toEqual([[202, { a: { on: [2, 0, 0] } }]]);
    expect(errors).toEqual([]);
    await page.close();
  });

  test('the snippet splits a packet that the server refuses as too large', async () => {
    const { page } = await openWithClock();
    host.respondWith(413, 413);
    await page.evaluate(`(() => {
      for (let at = 0; at < 100; at += 1) flags.checked('feature-' + at, 'on');
      return flags.flush();
    })()`);
    const taken = host.received.filter(({ status }) => status === 202);
    const counted = taken.flatMap(({ body }) => Object.keys(JSON.parse(body).f));
    expect(taken.length).toBeGreaterThan(2);
    expect([counted.length, new Set(counted).size]).toEqual([100, 100]);
    await page.close();
  });

  test('the snippet sends counts that were added during a flush with the next flush', async () => {
    const { page } = await openWithClock();
    await page.evaluate(`flags.checked('a', 'on'); flags.flush(); flags.checked('b', 'on'); flags.flush()`);
    expect(counts()).toEqual([
      [202, { a: { on: [1, 0, 0] } }],
      [202, { b: { on: [1, 0, 0] } }],
    ]);
    await page.close();
  });

  test.each(['often', 1e9])('the snippet pauses between packets even if its interval is %j', async (seconds) => {
    const { page, errors } = await openWithClock({ seconds });
    await page.evaluate(`flags.checked('a', 'on')`);
    await page.clock.runFor(9_000);
    expect([host.received, errors]).toEqual([[], []]);
    await page.close();
  });

  test.each([400, 403, 404, 413])('the snippet drops counts that the server refuses with status %i', async (status) => {
    const { page } = await openWithClock();
    host.respondWith(status);
    await page.evaluate(`flags.checked('a', 'on'), flags.flush()`);
    await page.evaluate(`flags.checked('b', 'on'), flags.flush()`);
    expect(counts()).toEqual([
      [status, { a: { on: [1, 0, 0] } }],
      [202, { b: { on: [1, 0, 0] } }],
    ]);
    await page.close();
  });

  test('the snippet sends packets of less than 30 kB, and keeps at most a thousand names', async () => {
    const { page } = await openWithClock();
    host.respondWith(503);
    await page.evaluate(`(async () => {
      const name = (at) => 'feature-' + at + '-' + 'é'.repeat(50);
      flags.checked('first', 'on'); await flags.flush();
      for (let at = 0; at < 5000; at += 1) flags.checked(name(at), 'on');
      await flags.flush();
    })()`);
    const sizes = host.received.map(({ body }) => Buffer.byteLength(body));
    expect(Math.max(...sizes)).toBeLessThan(30_000);
    const sent = host.received.slice(1).flatMap(({ body }) => Object.keys(JSON.parse(body).f));
    expect(sent).toHaveLength(1000);
    expect(sent[0]).not.toBe(sent[1]);
    await page.close();
  });

  test('the snippet accepts unusual names, ignores invalid counts, and never throws', async () => {
    const { page, errors } = await openWithClock();
    await page.evaluate(`(async () => {
      for (const name of ['__proto__', 'constructor', 'toString', 'a"b\\\\c']) flags.checked(name, name);
      flags.checked('empty', ''); flags.checked('\\ud800', 'on'); flags.checked(Symbol(), 'on'); flags.checked();
      flags.checked('x'.repeat(100_000), 'on');
      flags.add('nan', NaN); flags.add('text', 'many'); flags.add('__proto__'); flags.set('big', 1n);
      flags.add('huge', 1e308); flags.add('huge', 1e308);
      await flags.flush();
    })()`);
    const { f, m } = JSON.parse(host.received[0]!.body);
    expect(Object.keys(f)).toEqual([
      ...['__proto__', 'constructor', 'toString', 'a"b\\c', 'empty', '\ud800', 'undefined'],
    ]);
    expect(Object.keys(m)).toEqual(['__proto__', 'huge']);
    expect(m.huge).toBe(1e308);
    expect(await page.evaluate(`({}).on === undefined && ({}).__proto__ === Object.prototype`)).toBe(true);
    expect(errors).toEqual([]);
    await page.close();
  });

  test.each([
    ['fetch is missing', `delete globalThis.fetch; delete navigator.__proto__.sendBeacon`],
    ['fetch throws', `globalThis.fetch = () => { throw new Error('blocked') }`],
    ['built-in objects are frozen', `[Object, Array, Map, Promise].forEach((each) => Object.freeze(each.prototype))`],
    [
      'the storage is blocked',
      `Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied') } })`,
    ],
  ])('the snippet does not disturb a page where %s', async (_, before) => {
    const { page, errors } = await openWithSnippet(
      browser,
      pages,
      host.url,
      { key: 'k', environment: 'e' },
      { path: '/hostile', before },
    );
    const globals = `Object.keys(window).filter((name) => /flag/i.test(name)).sort()`;
    await page.evaluate(`flags.checked('a', 'on'); flags.flush().then(() => flagmeter().checked('b', 'on'))`);
    expect(await page.evaluate(globals)).toEqual(['flagmeter', 'flags']); // The test sets `flags`.
    await page.goto('about:blank');
    expect(errors).toEqual([]);
    await page.close();
  });
});
