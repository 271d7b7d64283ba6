import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { chromiumPath as executablePath } from '../../support/packages.ts';

/** Starts a real browser. @throws {Error} when there is none: it says how to get it */
export function launchChromium(): Promise<Browser> {
  if (!existsSync(executablePath))
    throw new Error(`${executablePath} is missing: apt-get install chromium fonts-dejavu-core`);
  // Tests in a container may run as root, and Chromium's sandbox does not work for root.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** What a phone shows. */
export const phone = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
} as const;
