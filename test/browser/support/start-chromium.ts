import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { chromiumOptions } from './chromium.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** WebSocket URL of Chromium. */
    chromium: string;
    /** Folder for the data of all test files. It is removed at the end. */
    folder: string;
  }
}

/**
 * Starts the browser that the test files of a project share. Starting one for each file took a third of the run time.
 */
export default async function startChromium(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!existsSync(chromiumOptions.executablePath)) return undefined;
  const server = await chromium.launchServer(chromiumOptions);
  project.provide('chromium', server.wsEndpoint());
  const folder = mkdtempSync(join(tmpdir(), 'flagmeter-'));
  project.provide('folder', folder);
  return async () => {
    rmSync(folder, { recursive: true });
    await server.close();
  };
}
