import { existsSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { type Browser, chromium, type Download } from 'playwright-core';
import { inject } from 'vitest';
import { chromiumPath as executablePath } from '../../support/packages.ts';
import { patienceMs } from '../../support/patience.ts';

/**
 * Options of the browser. Tests in a container can run as root, for which Chromium's sandbox does not work. Pages of a
 * site in one context share a process, because separate processes took a quarter of the CPU time. V8's helper threads
 * took another tenth.
 */
export const chromiumOptions = {
  executablePath,
  args: ['--no-sandbox', '--renderer-process-limit=1', '--js-flags=--single-threaded'],
};

/**
 * Connects to the browser that all test files share. Closing the connection closes only its own pages. A page whose
 * requests must outlive it needs a context that stays open: closing a page from `browser.newPage()` also closes its
 * context, which can end its requests.
 */
export async function connectChromium(): Promise<Browser> {
  if (!existsSync(executablePath))
    throw new Error(`${executablePath} is missing: apt-get install chromium-headless-shell fonts-dejavu-core`);
  return patient(await chromium.connect(inject('chromium'), { timeout: patienceMs }));
}

const patient = (browser: Browser): Browser =>
  browser.on('context', (context) => context.setDefaultTimeout(patienceMs));

/** Screen size and input of a phone. */
export const phone = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
} as const;

/** Returns the content of a saved file. It is streamed, because the browser is remote. */
export const readContent = async (download: Download): Promise<Buffer> => buffer(await download.createReadStream());
