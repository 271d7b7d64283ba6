import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';
import {
  type Binary,
  createApplication,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../../support/binary.ts';
import type { Credentials } from '../../support/shop.ts';
import { connectChromium } from './chromium.ts';

/** A running service with its console, and a connection to a browser. */
export interface Console {
  readonly chromium: Browser;
  readonly service: Binary;
  readonly credentials: Credentials;
  /** `http://HOST:PORT`. */
  readonly origin: string;
  /** Calls the management API as an Admin. */
  manage(method: string, path: string, expected: number, body?: unknown): Promise<unknown>;
  /**
   * Opens a path of the console, signed in unless the options say otherwise. Visits that choose only the screen size or
   * the colour scheme share a tab of one browser context, because a tab, its process and an empty cache took half of
   * the CPU time. Visits with their own session reuse emptied contexts. Other visits have new contexts.
   */
  visit(path: string, options?: VisitOptions): Promise<Visit>;
  close(): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** `false` to start without a session, on the sign-in page. */
  readonly signedIn?: boolean;
  /** `true` to use a separate session, which the test can end. */
  readonly ownSession?: boolean;
  /** `true` to use a separate context, whose clock or network the test can change. */
  readonly ownContext?: boolean;
  /** Browser errors that the test expects, such as requests that fail without a network. */
  readonly expected?: RegExp;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Messages of the browser: errors, warnings and violations of the Content-Security-Policy. */
  readonly complaints: readonly string[];
  /** Opens a path in another tab. */
  tab(path: string): Promise<Page>;
}

/** A context of the browser, with its settings and its messages so far. */
interface OpenContext {
  readonly context: BrowserContext;
  readonly complaints: string[];
  readonly expected: RegExp | undefined;
  readonly needsSignIn: boolean;
}

/** Failed responses are expected, because tests check how the page shows them. */
const refusedRequest = /^Failed to load resource: the server responded with a status of/;

/** Options of a visit that an open context can apply. */
const sharedOptions = new Set(['viewport', 'colorScheme']);
const guestOptions = new Set([...sharedOptions, 'signedIn', 'ownSession', 'expected']);
const areIn = (names: ReadonlySet<string>, options: VisitOptions) =>
  Object.keys(options).every((name) => names.has(name));

/** Default size of a new tab. */
const desktop = { width: 1280, height: 720 };

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Data of a service whose Admin has signed in to the console. */
interface SignedInData {
  readonly data: string;
  readonly credentials: Credentials;
  readonly state: StorageState;
}

let signedInData: Promise<SignedInData> | undefined;
let preparedAt = 0;

/**
 * Maximum age of a shared sign-in. Dangerous changes need a sign-in within 15 minutes, and no file takes ten minutes.
 */
const oldestSignInMs = 5 * 60_000;

/** Returns data that the test files of a worker copy, because hashing and signing in take a second of CPU time. */
function getSignedInData(chromium: Browser): Promise<SignedInData> {
  if (signedInData === undefined || Date.now() - preparedAt > oldestSignInMs) {
    preparedAt = Date.now();
    signedInData = prepareSignedIn(chromium);
  }
  return signedInData;
}

async function prepareSignedIn(chromium: Browser): Promise<SignedInData> {
  const data = join(mkdtempSync(join(inject('folder'), 'data-')), 'data');
  const credentials = await prepare(data);
  const service = await startBinary({ data });
  const context = await chromium.newContext();
  const page = await context.newPage();
  await page.goto(`http://${service.http}`);
  await signIn(page, credentials.adminEmail, credentials.adminPassword);
  const state = await context.storageState();
  await context.close();
  await stop(service);
  return { data, credentials, state };
}

/** Returns a browser state whose session is valid at another port. The name of its cookie contains the port. */
function movedTo({ cookies, origins }: StorageState, origin: string): StorageState {
  const name = `flagmeter-console-${new URL(origin).port}`;
  return {
    cookies: cookies.map((cookie) => (/^flagmeter-console-/.test(cookie.name) ? { ...cookie, name } : cookie)),
    origins,
  };
}

/**
 * Starts a service on fresh data, and connects to Chromium. Close it in `afterAll`, and call `cleanUp`.
 * @param fill fills the data before the service starts
 * @param ofPostgres the first credentials, if the arguments contain the URL of a PostgreSQL database
 */
export async function openConsole(
  args: readonly string[] = [],
  fill?: (data: string, credentials: Credentials) => Promise<void>,
  ofPostgres?: Credentials,
): Promise<Console> {
  const data = `${freshDirectory()}/data`;
  const chromium = await connectChromium();
  const prepared = await getSignedInData(chromium);
  if (ofPostgres === undefined) cpSync(prepared.data, data, { recursive: true });
  const credentials = ofPostgres ?? prepared.credentials;
  await fill?.(data, credentials);
  const service = await startBinary({ data, args });
  const origin = `http://${service.http}`;
  const access = await token(service.http, credentials);
  // The cookie of the shared session is valid only at 127.0.0.1.
  const isElsewhere = ofPostgres !== undefined || args.includes('--auth-url');
  let signedIn = isElsewhere ? undefined : movedTo(prepared.state, origin);

  /** Creates a context, signed in if the service has a session that the context can share. */
  async function openContext({ signedIn: wanted = true, ownSession, ownContext, expected, ...rest }: VisitOptions) {
    const session = wanted && ownSession !== true ? signedIn : undefined;
    const context = await chromium.newContext({
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      reducedMotion: 'reduce', // Animations would draw sixty frames a second while a test waits.
      ...rest,
      ...(session !== undefined && { storageState: session }),
    });
    const opened: OpenContext = { context, complaints: [], expected, needsSignIn: wanted && session === undefined };
    watch(opened);
    return opened;
  }

  let shared: OpenContext | undefined;

  /** Returns the context that most visits share, with the session and an empty storage. Its first tab stays open. */
  async function shareContext() {
    shared ??= await openContext({});
    const { context, complaints } = shared;
    onTestFinished(async () => {
      const [kept, ...others] = context.pages();
      if (kept?.url().startsWith(`${origin}/`)) await kept.evaluate('localStorage.clear(); sessionStorage.clear()');
      await kept?.unrouteAll({ behavior: 'ignoreErrors' });
      await Promise.all(others.map((page) => page.close()));
      expect(complaints.splice(0), 'complaints of the browser').toEqual([]);
    });
    return shared;
  }

  const idleGuests: OpenContext[] = [];

  /** Returns an empty context. A context of an earlier test keeps its process and its cache. */
  async function openGuest({ expected, ownSession }: VisitOptions) {
    const guest = idleGuests.pop() ?? (await openContext({ signedIn: false }));
    const { context, complaints } = guest;
    Object.assign(guest, { expected, needsSignIn: ownSession === true });
    onTestFinished(async () => {
      const isEmpty = await empty(context, origin);
      if (isEmpty) idleGuests.push(guest);
      else await context.close();
      expect(complaints.splice(0), 'complaints of the browser').toEqual([]);
    });
    return guest;
  }

  async function openOwn(options: VisitOptions) {
    const own = await openContext(options);
    onTestFinished(async () => {
      await own.context.close();
      expect(own.complaints, 'complaints of the browser').toEqual([]);
    });
    return own;
  }

  /** Opens a tab in a context that suits the options. */
  async function openTab(options: VisitOptions) {
    if (signedIn !== undefined && areIn(sharedOptions, options)) {
      const own = await shareContext();
      const page = own.context.pages()[0] ?? (await own.context.newPage());
      await resetTab(page, options);
      return { ...own, page, earlier: [] };
    }
    const isGuest = (options.signedIn === false || options.ownSession === true) && areIn(guestOptions, options);
    const own = await (isGuest ? openGuest(options) : openOwn(options));
    const earlier = own.context.pages();
    const page = await own.context.newPage();
    if (isGuest) await resetTab(page, options);
    return { ...own, page, earlier };
  }

  async function visit(path: string, options: VisitOptions = {}): Promise<Visit> {
    const { context, complaints, needsSignIn, page, earlier } = await openTab(options);
    await page.goto(origin + path);
    await Promise.all(earlier.map((each) => each.close()));
    if (needsSignIn) {
      await signIn(page, credentials.adminEmail, credentials.adminPassword);
      if (options.ownSession !== true) signedIn = await context.storageState();
    }
    async function tab(path: string) {
      const another = await context.newPage();
      await another.goto(origin + path);
      return another;
    }
    return { page, context, complaints, tab };
  }

  return {
    chromium,
    service,
    credentials,
    origin,
    manage: (method, path, expected, body) => manage(service.http, access, method, path, expected, body),
    visit,
    async close() {
      await Promise.all([chromium.close(), stop(service)]);
    },
  };
}

/** Fills in the sign-in page, and waits for the console. */
export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await submitSignIn(page, email, password);
  await page.locator('main#main').waitFor(); // The sign-in page also has a `main` element, but without an id.
}

/** Signs in with a temporary password, replaces it with another password, and waits for the console. */
export async function signInFirst(page: Page, email: string, given: string, own: string): Promise<void> {
  await submitSignIn(page, email, given);
  await page.getByLabel('New password', { exact: true }).fill(own);
  await page.getByLabel('New password again').fill(own);
  await page.getByRole('button', { name: 'Save and continue' }).click();
  await page.locator('main#main').waitFor();
}

/** Chooses a password on the page of a link, and waits for the console. */
export async function acceptLink(page: Page, heading: string, own: string): Promise<void> {
  await page.getByRole('heading', { name: heading }).waitFor();
  await page.getByLabel('New password, at least').fill(own);
  await page.getByLabel('New password again').fill(own);
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await page.locator('main#main').waitFor();
}

async function submitSignIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Prepares a tab as if it were new. */
async function resetTab(page: Page, { viewport, colorScheme }: VisitOptions): Promise<void> {
  await page.setViewportSize(viewport ?? desktop);
  await page.emulateMedia({ media: null, colorScheme: colorScheme ?? 'light', reducedMotion: 'reduce' });
  await page.mouse.move(0, 0);
}

/**
 * Removes the cookies, the storage and all tabs of a context but one, which keeps the process. The tab first leaves its
 * page, whose responses could set cookies again.
 * @returns false if the service or the browser no longer responds
 */
async function empty(context: BrowserContext, origin: string): Promise<boolean> {
  const [kept, ...others] = context.pages();
  if (kept === undefined) return false;
  try {
    await Promise.all(others.map((page) => page.close()));
    await kept.unrouteAll({ behavior: 'ignoreErrors' });
    await kept.goto(`${origin}/healthz`);
    await kept.evaluate('localStorage.clear()');
    await context.clearCookies();
    await context.clearPermissions();
    return true;
  } catch {
    return false;
  }
}

function watch(opened: OpenContext): void {
  const { context, complaints } = opened;
  const complain = (text: string) => {
    if (!refusedRequest.test(text) && !opened.expected?.test(text)) complaints.push(text);
  };
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complain(message.text());
  });
  context.on('weberror', (error) => complain(String(error.error())));
  void context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('CSP: ' + event.effectiveDirective + ' ' + event.blockedURI + ' ' + event.sample))`);
}

/** An application, and a key with which tests send packets. */
export interface Sender {
  readonly application: string;
  readonly key: string;
  /** Sends a usage report with a time, and with counts such as `{checkout: {on: [checks, used, viewed]}}`. */
  report(at: Date, counts: Counts, more?: ReportMore): Promise<void>;
  /** Sends a telemetry packet with the current time. Resolves when the packet is on disk. */
  packet(counts: Counts, environment?: string, instance?: string): Promise<void>;
}

export interface ReportMore extends Readonly<Record<string, unknown>> {
  /** Hashes of the people for whom the flags were checked. */
  readonly users?: readonly number[];
}

export type Counts = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

/** Creates an application with a Frontend key. The sender uses the real routes. */
export async function openSender(
  { service, credentials }: Console,
  name = 'Shop',
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Sender> {
  const access = await token(service.http, credentials);
  const application = await createApplication(service.http, access, { name, rate: 0, ...fields });
  const { key } = await createKey(service.http, access, application, 'Frontend');
  async function post(path: string, expected: number, body: unknown) {
    const response = await fetch(`http://${service.http}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        origin: 'https://shop.example',
        'user-agent': 'flagmeter-test/1.0',
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== expected) throw new Error(`${path} answered ${response.status}: ${text}`);
  }
  return {
    application,
    key,
    report: (at, counts, { users = [], ...more } = {}) =>
      post('/api/usage/stats', 200, {
        appKey: key,
        environment: 'Production',
        time: at.toISOString(),
        stats: Object.entries(counts).map(([feature, variants]) => ({
          feature,
          uniqueUserHashes: users,
          variantStats: Object.fromEntries(
            Object.entries(variants).map(([variant, [checkCount = 0, usedCount = 0, viewedCount = 0]]) => [
              variant,
              { checkCount, usedCount, viewedCount },
            ]),
          ),
        })),
        ...more,
      }),
    packet: (counts, environment = 'Production', instance) =>
      post('/api/frontend/telemetry', 202, {
        k: key,
        e: environment,
        f: counts,
        ...(instance === undefined ? {} : { u: instance }),
      }),
  };
}

/** Runs a function while the table of flags shows only some columns. The choice belongs to the user, so it is reset. */
export async function withColumns(page: Page, titles: readonly string[], use: () => Promise<void>): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Columns' });
  await page.getByRole('button', { name: 'Columns' }).click();
  // The code of the dialog is loaded by the click.
  await dialog.waitFor();
  const checked = dialog.getByRole('checkbox', { checked: true });
  while ((await checked.count()) > 0) await checked.first().click();
  for (const title of titles) await dialog.getByLabel(title, { exact: true }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await use();
  await page.getByRole('button', { name: 'Columns' }).click();
  await dialog.getByRole('button', { name: 'Restore default columns' }).click();
  await dialog.waitFor({ state: 'detached' });
}
