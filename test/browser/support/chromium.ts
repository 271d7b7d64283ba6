import { existsSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { type Browser, chromium, type Download } from 'playwright-core';
import { inject } from 'vitest';
import { chromiumPath as executablePath } from '../../support/packages.ts';
import { patienceMs } from '../../support/patience.ts';

/**
 * Options of a real browser. Tests in a container can run as root, and Chromium's sandbox does not work for root. The
 * pages of a site in one context share a process: a second process for each page took a quarter of the processor time.
 */
export const chromiumOptions = { executablePath, args: ['--no-sandbox', '--renderer-process-limit=1'] };

/**
 * Connects to the browser that all files share. Closing it closes the pages of this connection only. A page whose
 * requests outlive it needs a context that stays: closing a page of `browser.newPage()` closes its context as well,
 * which can end its requests.
 */
export async function connectChromium(): Promise<Browser> {
  if (!existsSync(executablePath))
    throw new Error(`${executablePath} is missing: apt-get install chromium-headless-shell fonts-dejavu-core`);
  return patient(await chromium.connect(inject('chromium'), { timeout: patienceMs }));
}

const patient = (browser: Browser): Browser =>
  browser.on('context', (context) => context.setDefaultTimeout(patienceMs));

/** The screen of a phone. */
export const phone = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
} as const;

/** Content of a saved file, which a remote browser streams. */
export const readContent = async (download: Download): Promise<Buffer> => buffer(await download.createReadStream());
