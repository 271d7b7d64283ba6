import { type CDPSession, chromium, type Page } from 'playwright-core';
import { Histogram } from '../src/bench/load/histogram.ts';
import { signIn } from '../test/browser/support/console.ts';
import { type Binary, cleanUp, manage, startBinary, stop, token } from '../test/support/binary.ts';
import { chromiumPath } from '../test/support/packages.ts';
import { type Benchmark, readOptions, show } from './benchmark.ts';
import { load } from './load.ts';
import { round } from './numbers.ts';
import { createRequests, makeStore, type Store } from './pages.ts';

/** Maximum durations, ms. */
const most = { rows: 1000, key: 100, page: 500, interaction: 200 };

/** Measures how fast the console is for a reader who opens every page. */
export const clicks: Benchmark = {
  summary: 'durations of pages, keys and clicks in Chromium on a store of many flags and many days, next to packets',
  usage:
    '[--json] [--flags 2000] [--days 90] [--hours 3] [--rounds 2] [--rate 200] [--seconds 20] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { flags: 2000, days: 90, hours: 3, rounds: 2, rate: 200, seconds: 20 };
    const small = { flags: 20, days: 3, hours: 1, rounds: 1, rate: 20, seconds: 0.5 };
    const options = readOptions(args, defaults, small);
    try {
      const store = await makeStore(options);
      await measure(store, options);
    } finally {
      cleanUp();
    }
  },
};

type Options = Readonly<Record<'flags' | 'rounds' | 'rate' | 'seconds', number>> & {
  readonly binary: string;
  readonly json: boolean;
};

export async function measure(store: Store, options: Options): Promise<void> {
  const args = ['--api-rate', '0', '--rate', '0', '--max-features', '5000'];
  const service = await startBinary({ data: store.data, binary: options.binary, args });
  const before = await sendPackets(service, store, options, () => true);
  let isOver = false;
  const sending = sendPackets(service, store, options, () => isOver);
  const visits = await clickThrough(service, store, options).finally(() => (isOver = true));
  const during = await sending;
  await stop(service);
  const names = [...new Set(visits.steps.map(({ name }) => name))];
  const worst = names.map((name) => {
    const steps = visits.steps.filter((step) => step.name === name);
    const largest = (of: 'ms' | 'taskMs') => Math.max(...steps.map((step) => step[of]));
    return { name, most: steps[0]!.most, ms: largest('ms'), taskMs: largest('taskMs') };
  });
  const times = new Histogram();
  for (const ms of visits.interactions) times.record(ms);
  const interactions = { count: visits.interactions.length, p98Ms: round(times.quantile(0.98)) };
  const packets = { p99Ms: round(before, 1), p99MsDuring: round(during, 1) };
  show(options.json, { steps: worst, interactions, packets }, [
    ['ms', 'shown', 'CPU of the page', 'maximum'],
    ...worst.map(({ name, ms, taskMs, most }) => [name, `${round(ms)}`, `${round(taskMs)}`, `${most}`]),
    ['interaction to next paint, 98th percentile', `${interactions.p98Ms}`, '', `${most.interaction}`],
    [],
    [
      `${interactions.count} interactions. Packets: 99 % within ${packets.p99Ms} ms before, ${packets.p99MsDuring} ms during the visits`,
    ],
  ]);
}

/** Sends packets in runs until `isOver` is true, at least one run. @returns the largest 99th percentile, ms */
async function sendPackets(
  { http }: Binary,
  { key }: Store,
  { flags, rate, seconds }: Options,
  isOver: () => boolean,
): Promise<number> {
  const [host, port] = http.split(':') as [string, string];
  const requests = createRequests(flags, key, http);
  const p99s: number[] = [];
  do {
    const plan = { host, port: Number(port), requests, connections: 4, rate, seconds, warmupSeconds: 0 };
    p99s.push((await load(plan)).p99);
  } while (!isOver());
  return Math.max(...p99s);
}

interface Step {
  readonly name: string;
  /** Time from the click until the page is painted. */
  readonly ms: number;
  /** CPU time of the main thread in the same period. Other processes hardly change it. */
  readonly taskMs: number;
  readonly most: number;
}

interface Visits {
  readonly steps: readonly Step[];
  /** Duration of each interaction until the next paint, ms. */
  readonly interactions: readonly number[];
}

/** Opens every page in Chromium by clicks, and types into the search of flags. */
async function clickThrough(service: Binary, store: Store, { rounds }: Options): Promise<Visits> {
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.addInitScript(measurements);
    await page.goto(`http://${service.http}/`);
    await signIn(page, store.credentials.adminEmail, store.credentials.adminPassword);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const steps: Step[] = [];
    const interactions: number[] = [];
    await planExperiment(service, store);
    for (let turn = 0; turn < rounds; turn += 1) {
      const reader = { page, session, steps };
      const name = turn === 0 ? 'flags, rows after startup' : 'flags, rows';
      await openFlags(reader, name, `http://${service.http}/apps/${store.application}/Production/flags?range=90d`);
      await typeSearch(reader);
      for (const visit of visits) await click(reader, visit);
      interactions.push(...(await page.evaluate<number[]>('benchmark.interactions()')));
    }
    return { steps, interactions };
  } finally {
    await browser.close();
  }
}

async function planExperiment({ http }: Binary, { credentials, application }: Store): Promise<void> {
  const access = await token(http, credentials);
  const endAt = new Date(Date.now() + 14 * 86_400_000).toISOString();
  const plan = { feature: 'flag-0', name: 'Plan', environment: 'Production', base: 'off', metric: 'used', endAt };
  await manage(http, access, 'POST', `/api/v2/applications/${application}/experiments`, 201, plan);
}

interface Reader {
  readonly page: Page;
  readonly session: CDPSession;
  readonly steps: Step[];
}

/** Loads the list of flags, as a bookmark does. The server reads the counts from the disk for its first reader. */
async function openFlags({ page, session, steps }: Reader, name: string, url: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(url, { waitUntil: 'commit' });
  const ms = await page.evaluate<number>(`benchmark.shown('main [role=grid] [data-index]', 'flag-', 0)`);
  steps.push({ name, ms, taskMs: await readTasks(session), most: most.rows });
  await settle(page);
}

async function typeSearch({ page, session, steps }: Reader): Promise<void> {
  await page.keyboard.press('/');
  for (const character of 'flag-19') {
    const tasks = await readTasks(session);
    await page.keyboard.press(character);
    const ms = await page.evaluate<number>('benchmark.painted()');
    steps.push({ name: 'search, each key', ms, taskMs: (await readTasks(session)) - tasks, most: most.key });
    await page.waitForTimeout(100);
  }
  await page.getByLabel('Search flags').fill('');
  await settle(page);
}

/** A click that opens a page, a tab or a menu. */
interface Click {
  readonly name: string;
  /** The clicked element, as a selector of Playwright. */
  readonly on: string;
  /** Selector of the content that must be shown. */
  readonly until: string;
  /** Text of that content. */
  readonly text: string;
}

const tab = (name: string, text: string, until = 'main h1'): Click => ({
  name: name.toLowerCase(),
  on: `nav.tabs >> role=link[name="${name}"]`,
  until,
  text,
});
const flagTab = (name: string): Click => ({
  name: `flag, ${name.toLowerCase()}`,
  on: `role=tab[name="${name}"]`,
  until: '[role=tab][aria-selected=true]',
  text: name,
});
const setting = (name: string): Click => ({
  name: `settings, ${name.toLowerCase()}`,
  on: `nav.settings-nav >> role=link[name="${name}"]`,
  until: '.settings-page h1',
  text: name,
});
const account = (name: string, text: string): readonly Click[] => [
  { name: 'account menu', on: 'header >> role=button[name=/^Account/]', until: '[role=menuitem]', text: name },
  { name: name.toLowerCase(), on: `role=menuitem[name="${name}"]`, until: 'main h1', text },
];

const visits: readonly Click[] = [
  { name: 'flag', on: 'main [data-index="1"] a', until: 'main h1', text: 'flag-' },
  ...['Traffic', 'Experiment', 'Senders', 'Settings', 'Overview'].map(flagTab),
  tab('Experiments', 'Experiments'),
  { name: 'experiment', on: 'main td a', until: 'main h1', text: 'Plan' },
  tab('Clean-up', 'can be removed'),
  tab('Activity', 'Activity'),
  tab('Metrics', 'Metrics'),
  tab('Ingest', 'Ingest'),
  tab('People', 'People'),
  tab('Connect', 'Send to'),
  tab('Application settings', 'bench'),
  ...account('Audit log', 'Audit log'),
  ...account('Server', 'Server'),
  ...account('Settings', 'You'),
  ...['Applications', 'Team', 'Sign-in'].map(setting),
  { name: 'home', on: 'header a.brand', until: 'main h1', text: 'Home' },
  { name: 'flags', on: 'main table a.home-name', until: 'main [role=grid] [data-index]', text: '' },
];

async function click({ page, session, steps }: Reader, { name, on, until, text }: Click): Promise<void> {
  const element = page.locator(on).first();
  await element.waitFor();
  const tasks = await readTasks(session);
  const clickedAt = await page.evaluate<number>('performance.now()');
  const shown = page.evaluate<number>(
    `benchmark.shown(${JSON.stringify(until)}, ${JSON.stringify(text)}, ${clickedAt})`,
  );
  await element.click();
  const ms = await shown;
  steps.push({ name, ms, taskMs: (await readTasks(session)) - tasks, most: most.page });
  await settle(page);
}

/** Waits until the page has loaded its deferred content, so that this work is not counted in the next step. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(300);
}

/** Returns the CPU time of the tasks of the main thread since the page was opened, ms. */
async function readTasks(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
}

/** Script of each page. It adds functions that measure inside the page, because a call from outside takes milliseconds. */
const measurements = `
  const durations = new Map();
  let pressedAt = 0;
  let latest;
  new PerformanceObserver((list) => {
    for (const { interactionId: id, duration } of list.getEntries())
      if (id > 0) durations.set(id, Math.max(durations.get(id) ?? 0, duration));
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
  for (const type of ['pointerdown', 'keydown'])
    addEventListener(type, ({ timeStamp }) => {
      pressedAt = timeStamp;
      latest = paint().then(() => performance.now() - timeStamp);
    }, { capture: true });
  // Resolves after the next frame has been painted.
  const paint = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const change = () => new Promise((resolve) => {
    const observer = new MutationObserver(() => { observer.disconnect(); resolve(); });
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  const isShown = (selector, text) =>
    document.querySelector('main .skeleton, main [aria-busy=true]') === null &&
    [...document.querySelectorAll(selector)].some(({ textContent }) => textContent.includes(text));
  window.benchmark = {
    // Resolves with the time from the first press after a time until a text is painted.
    async shown(selector, text, since) {
      while ((since > 0 && pressedAt < since) || !isShown(selector, text)) await change();
      await paint();
      return performance.now() - (since > 0 ? pressedAt : 0);
    },
    // Resolves with the time from the latest press until the following frame is painted.
    painted: () => latest,
    // The browser reports only durations of at least 16 ms.
    interactions: () =>
      [...durations.values(), ...Array(Math.max(0, performance.interactionCount - durations.size)).fill(0)],
  };
`;
