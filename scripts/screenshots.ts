/**
 * Takes the screenshots of the README and the docs: starts `dist/flagmeter demo`, signs in, and captures the console in
 * Chromium. Run it with `npm run screenshots`. The variable CHROMIUM selects another browser.
 */
import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BrowserContextOptions, chromium as browsers, type Page } from 'playwright-core';
import { chromiumOptions, phone } from '../test/browser/support/chromium.ts';
import { signIn } from '../test/browser/support/console.ts';
import { cleanUp, manage, token } from '../test/support/binary.ts';
import { type Demo, startDemo, stopDemos } from '../test/support/demo.ts';

/** One screenshot: a page of the console at a screen size. */
interface Picture {
  readonly name: string;
  /** Path of the page below the path of its application. */
  readonly path: string;
  /** Name of the application, Shop by default; `null` for a page outside of applications. */
  readonly application?: string | null;
  readonly screen: BrowserContextOptions;
  /** Text that must be on the page before the screenshot is taken. */
  readonly when: string;
}

const screen: BrowserContextOptions = { viewport: { width: 1280, height: 860 } };
const dark: BrowserContextOptions = { ...screen, colorScheme: 'dark' };

const pictures: readonly Picture[] = [
  { name: 'overview', path: '/Production/flags?range=30d', screen, when: 'checkout-redesign' },
  { name: 'overview-dark', path: '/Production/flags?range=30d', screen: dark, when: 'checkout-redesign' },
  { name: 'flag', path: '/Production/flag?name=basket-layout&range=30d', screen, when: 'one-page' },
  { name: 'ingest', path: '/Production/ingest?range=24h', screen, when: 'origin_not_allowed' },
  {
    name: 'first-run',
    path: '/Production/connect?use=unleash',
    application: 'Warehouse',
    screen: { viewport: { width: 1280, height: 1300 } },
    when: 'Adopt token',
  },
  { name: 'sign-in', path: '/settings/sign-in', application: null, screen, when: 'Identity providers' },
  { name: 'phone', path: '/Production/flags?range=7d', screen: phone, when: 'checkout-redesign' },
];

const [folder = 'docs/images'] = process.argv.slice(2);

const demo = await startDemo(['--listen', '127.0.0.1:0', '--grpc-listen', '127.0.0.1:0', '--seed', '1']);
const chromium = await browsers.launch(chromiumOptions);
try {
  const applications = await listApplications(demo);
  mkdirSync(folder, { recursive: true });
  const storageState = await signedIn(demo);
  for (const picture of pictures) {
    const settings = { locale: 'en-US', timezoneId: 'UTC', storageState, ...picture.screen };
    const context = await chromium.newContext(settings);
    const page = await context.newPage();
    const { application = 'Shop', path } = picture;
    const place = application === null ? '' : `/apps/${applications.get(application)}`;
    await page.goto(`${demo.url}${place}${path}`);
    await take(page, picture);
    await context.close();
  }
} finally {
  await chromium.close();
  await demo.stop();
  stopDemos();
  cleanUp();
}

async function signedIn({ url, adminEmail, adminPassword }: Demo) {
  const context = await chromium.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await signIn(page, adminEmail, adminPassword);
  const state = await context.storageState();
  await context.close();
  return state;
}

async function listApplications({ http, ...credentials }: Demo): Promise<ReadonlyMap<string, string>> {
  const access = await token(http, credentials);
  const list = await manage(http, access, 'GET', '/api/v2/applications', 200);
  const { items } = list as { items: readonly { name: string; id: string }[] };
  return new Map(items.map(({ name, id }) => [name, id]));
}

async function take(page: Page, { name, when }: Picture): Promise<void> {
  const file = resolve(join(folder, `${name}.png`));
  await page.getByText(when).first().waitFor();
  await page.waitForTimeout(1500); // The page loads charts and users after the table.
  await page.screenshot({ path: file, animations: 'disabled' });
  console.error(`${file} ${(statSync(file).size / 1000).toFixed(0)} kB`);
}
