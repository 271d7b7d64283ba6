import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { freePort } from '../../src/http/bind-failure.ts';
import {
  type Binary,
  cleanUp,
  createApplication,
  createKey,
  freshDirectory,
  prepare,
  startBinary,
  stop,
  token,
  usage,
} from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { startProxy } from '../support/proxy.ts';
import { proxyKinds } from '../support/proxy-program.ts';
import { connectChromium } from './support/chromium.ts';
import { type PageServer, startPageServer } from './support/pages.ts';
import { openWithSnippet } from './support/snippet-page.ts';

/** A page sends counts while the server behind a proxy restarts. */

let chromium: Awaited<ReturnType<typeof connectChromium>>;
let browser: BrowserContext;
let pages: PageServer;

beforeAll(async () => {
  chromium = await connectChromium();
  browser = await chromium.newContext({ ignoreHTTPSErrors: true });
  pages = await startPageServer();
});
afterAll(async () => {
  await chromium.close();
  pages.close();
  cleanUp();
});

/** One restart has all phases. `ROUNDS=10` repeats them. */
const restarts = Number(process.env['ROUNDS'] ?? 1);

for (const kind of proxyKinds)
  needing('chromium-headless-shell', kind).test(
    `no count is lost while the server behind ${kind} restarts`,
    async () => {
      const data = `${freshDirectory()}/data`;
      const credentials = await prepare(data);
      const [http, grpc] = await Promise.all([freePort('127.0.0.1', 0), freePort('127.0.0.1', 0)]);
      const args = ['--listen', `127.0.0.1:${http}`, '--grpc-listen', `127.0.0.1:${grpc}`];
      const start = (): Promise<Binary> => startBinary({ data, args });
      let service = await start();
      const access = await token(service.http, credentials);
      const application = await createApplication(service.http, access, { name: 'Shop' });
      const { key } = await createKey(service.http, access, application, 'Frontend');
      const proxy = await startProxy(kind, freshDirectory(), service);
      const url = `https://localhost:${proxy.port}`;
      const options = { key, environment: 'Production' };
      const { page } = await openWithSnippet(browser, pages, url, options, { path: `/${kind}` });
      /** Returns the status of a packet that needs a preflight; 0 if the page cannot read the response. */
      const status = () =>
        page.evaluate(
          ([to, body]) =>
            fetch(to!, { method: 'POST', headers: { 'content-type': 'application/json' }, body: body! }).then(
              (response) => response.status,
              () => 0,
            ),
          [`${url}/api/frontend/telemetry`, JSON.stringify({ k: key, e: 'Production', f: {} })],
        );
      const count = () => page.evaluate(`flags.checked('restarts', 'on'); flags.flush()`);
      for (let round = 0; round < restarts; round += 1) {
        await count();
        await stop(service);
        expect(await status()).toBe(503);
        await count();
        service = await start();
        await count();
      }
      const range = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) };
      await vi.waitFor(async () => {
        await page.evaluate('flags.flush()');
        const query = { environment: 'Production', step: 'hour', ...range } as const;
        const { features } = await usage(service.http, access, application, query);
        expect(features.map(({ checks }) => checks)).toEqual([3 * restarts]);
      });
      await page.close();
      await proxy.stop();
      await stop(service);
    },
  );
