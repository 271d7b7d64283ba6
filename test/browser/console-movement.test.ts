import type { Request, Route } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';

const { test } = needing('chromium-headless-shell');

const hourMs = 3_600_000;

let console: Console;
let sender: Sender;

beforeAll(async () => {
  console = await openConsole();
  sender = await openSender(console, 'Shop', { acceptClientIdentities: true });
  const now = Date.now();
  for (let hour = 1; hour <= 5; hour++)
    await sender.report(new Date(now - hour * hourMs), { checkout: { on: [40, 20, 10], off: [30, 5, 1] } });
});

afterAll(async () => {
  await console?.close();
  cleanUp();
});

/** Records in the page each visible element that moves up or down. */
const recordMovements = `{
  const movements = globalThis.movements = [];
  new PerformanceObserver((list) => {
    for (const { node, previousRect: before, currentRect: after } of list.getEntries().flatMap(({ sources }) => sources))
      if (before.height > 0 && after.height > 0 && Math.abs(before.y - after.y) >= 2)
        movements.push(\`\${node?.textContent?.slice(0, 20)}: from \${before.y} to \${after.y}\`);
  }).observe({ type: 'layout-shift', buffered: true });
}`;

const orders = {
  'in the order of the requests': (waiting: Route[]) => waiting.shift(),
  'in reverse order': (waiting: Route[]) => waiting.pop(),
} as const;

const pages = ['flags', 'flag?name=checkout&tab=traffic', 'flag?name=checkout&tab=settings', 'ingest', 'metrics'];

test.each(Object.keys(orders).flatMap((order) => pages.map((path) => [path, order as keyof typeof orders] as const)))(
  'no element of the page "%s" moves when responses arrive %s',
  async (path, order) => {
    const { page } = await console.visit('/', { ownContext: true });
    await page.addInitScript(recordMovements);
    const waiting: Route[] = [];
    const ended = new Set<Request>();
    let released: Request | undefined;
    page.on('requestfinished', (request) => ended.add(request));
    page.on('requestfailed', (request) => ended.add(request));
    await page.route('**/api/v2/**', (route) => void waiting.push(route));
    await page.goto(`${console.origin}/apps/${sender.application}/Production/${path}`);
    const loading = page.locator('[aria-busy="true"]').or(page.getByText(/^(Computing|Counting|Checking) /));
    const countMissing = async () => {
      if (released === undefined || ended.has(released)) {
        const next = orders[order](waiting);
        released = next?.request();
        await next?.continue();
      }
      return waiting.length + (released === undefined ? 0 : 1) + (await loading.count());
    };
    await expect.poll(countMissing).toBe(0);
    expect(await page.evaluate('movements')).toEqual([]);
  },
);
