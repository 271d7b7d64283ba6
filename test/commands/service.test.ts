import { randomBytes } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { prepareStore } from '../../src/accounts/prepare.ts';
import { loadHttpEngine } from '../../src/http/engines/runtime.ts';
import type { HttpEngine, Listener } from '../../src/http/types.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { bindListeners } from '../../src/serve/bound-listeners.ts';
import { type Config, loadConfig } from '../../src/serve/config/config.ts';
import type { HostListener } from '../../src/serve/listeners.ts';
import { startService } from '../../src/serve/service.ts';
import { openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import { freshDirectory } from '../support/binary.ts';
import { cheapHash } from '../support/cheap-hash.ts';
import { freePorts } from '../support/free-ports.ts';
import { call, openClient } from '../support/grpc-call.ts';
import { encode, usageReport } from '../support/report-messages.ts';
import { bundle, snippet, workerFile } from '../support/service.ts';

const engine = await loadHttpEngine();
const log = createLog('error', () => {}, systemClock);

function createConfig(...argv: string[]): Config {
  return loadConfig({ argv: [...freePorts, ...argv], env: {}, readFile: () => '' });
}

test('a service that fails to start leaves no store open', async () => {
  const config = createConfig('--data', `${freshDirectory()}/data`);
  const bound = await bindListeners({ config, engine, clock: systemClock, log });
  const accounts = openAccountTables(config.data);
  const wanted = { adminEmail: 'admin@localhost', clock: systemClock, randomBytes, hash: cheapHash };
  await prepareStore(accounts, wanted);
  const deps = { config, accounts, workerFile, bundle, snippet, clock: systemClock, randomBytes, log, fatal: () => {} };
  // The routes need the listener's address as the issuer of tokens. Without a listener, the service fails to start.
  await expect(startService(deps, { ...bound, listeners: [] })).rejects.toThrow(TypeError);
  await openAccountTables(config.data).lmdb.close();
  await bound.close(0);
});

test('a service that is not ready reports liveness, and responds with 503 to everything else', async () => {
  const config = createConfig();
  const bound = await bindListeners({ config, engine, clock: systemClock, log });
  const [{ listener }] = bound.listeners as [HostListener];
  const url = `http://127.0.0.1:${listener.port}`;
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  for (const path of ['/readyz', '/connect/token', '/api/v2/applications'])
    expect((await fetch(url + path)).status).toBe(503);
  const client = openClient(`127.0.0.1:${bound.grpc.port}`);
  const report = encode('Usage.FeatureStat', usageReport);
  expect((await call(client, '/Usage.Usage/SendStats', report)).code).toBe(status.UNAVAILABLE);
  client.close();
  await bound.close(0);
});

test.each(['/api/frontend/telemetry', '/t/api/frontend/telemetry'])(
  'a web page can read the 503 response of %s before the service is ready',
  async (path) => {
    const config = createConfig('--metrics-path-prefix', '/t');
    const bound = await bindListeners({ config, engine, clock: systemClock, log });
    const [{ listener }] = bound.listeners as [HostListener];
    const ask = (method: string, headers: Record<string, string>) =>
      fetch(`http://127.0.0.1:${listener.port}${path}`, { method, headers });
    const origin = 'https://shop.example';
    const preflight = await ask('OPTIONS', { origin, 'access-control-request-method': 'POST' });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflight.headers.get('access-control-allow-methods')).toBe('POST, OPTIONS');
    const packet = await ask('POST', { origin });
    expect([packet.status, packet.headers.get('retry-after')]).toEqual([503, '1']);
    expect(packet.headers.get('access-control-allow-origin')).toBe(origin);
    expect(packet.headers.get('vary')).toBe('Origin');
    await bound.close(0);
  },
);

test('bindListeners binds either all addresses or no address', async () => {
  const taken = await bindListeners({ config: createConfig(), engine, clock: systemClock, log });
  const opened: Listener[] = [];
  const observed: HttpEngine = {
    ...engine,
    async listen(options) {
      const listener = await engine.listen(options);
      opened.push(listener);
      return listener;
    },
  };
  const config = createConfig('--grpc-listen', `127.0.0.1:${taken.grpc.port}`);
  await expect(bindListeners({ config, engine: observed, clock: systemClock, log })).rejects.toThrow('in use');
  const [{ host, port }] = opened as [Listener];
  await expect(fetch(`http://${host}:${port}/healthz`)).rejects.toThrow();
  await taken.close(0);
});
