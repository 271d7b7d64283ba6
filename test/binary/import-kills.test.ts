import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runImport } from '../../src/cli/import/run-import.ts';
import { testContext } from '../cli/fixture.ts';
import { type Binary, freshDirectory, startBinary, token } from '../support/binary.ts';
import { copyPrepared } from '../support/prepared.ts';
import { openShop, readChecks } from '../support/shop.ts';

const counts = 30_000;
const features = 50;

test('an import is counted once, although the server is killed before or after its responses', async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await copyPrepared(data);
  let service: Binary = await startBinary({ data });
  const { http } = service;
  const shop = await openShop(http, credentials);
  const time = new Date(Date.now() - 3_600_000).toISOString();
  const rows = Array.from({ length: counts }, (_, n) => `${time},flag-${n % features},on,1`);
  const path = join(freshDirectory(), 'history.csv');
  writeFileSync(path, ['time,feature,variant,checks', ...rows].join('\n'));

  let requests = 0;
  let isKilled = false;
  const kill = async () => {
    service.kill('SIGKILL');
    await service.exit;
    isKilled = true;
  };
  const restart = async () => {
    service = await startBinary({ data, args: ['--listen', http] });
    isKilled = false;
  };
  let restarting: Promise<void> | undefined;
  const env = { FLAGMETER_URL: `http://${http}`, FLAGMETER_TOKEN: await token(http, credentials) };
  const context = {
    ...testContext({ env }),
    // Kills the server at every fourth part. The server has either not received the part yet, or not responded yet.
    fetch: async (url: string, init: RequestInit) => {
      if (!url.endsWith('/imports')) return fetch(url, init);
      requests += 1;
      const isBefore = requests % 8 === 3;
      const isAfter = requests % 8 === 7;
      if (isBefore) await kill();
      const response = await fetch(url, init);
      if (!isAfter) return response;
      await response.text();
      await kill();
      throw new Error('the connection was closed');
    },
    // The import also calls `sleep` between parts while the server is alive.
    async sleep() {
      if (!isKilled) return setImmediate();
      restarting ??= restart().finally(() => {
        restarting = undefined;
      });
      await restarting;
    },
  };
  const target = ['--app', shop.application, '--env', 'Production', '--format', 'csv'];
  expect(await runImport.run([path, ...target], context)).toBe(0);
  expect(requests).toBeGreaterThan(8);
  const checks = await readChecks(http, shop);
  expect([...checks.values()]).toEqual(Array(features).fill(counts / features));

  expect(await runImport.run([path, ...target], { ...testContext({ env }) })).toBe(0);
  expect(await readChecks(http, shop)).toEqual(checks);
  service.kill('SIGTERM');
  expect((await service.exit).code).toBe(0);
});
