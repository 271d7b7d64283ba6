import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runImport } from '../../src/cli/import/run-import.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { testContext } from '../cli/fixture.ts';
import { freshDirectory, token } from '../support/binary.ts';
import { canMount } from '../support/mount.ts';
import { openShop, readChecks } from '../support/shop.ts';
import { prepareOnSmallDisk } from '../support/small-disk.ts';

const counts = 400_000;
const features = 50;

describe.runIf(canMount())('a full disk', () => {
  test('an import on a full disk waits for space, and then counts everything once', async () => {
    const service = await prepareOnSmallDisk();
    const { http } = service;
    const shop = await openShop(http, service.credentials);
    const time = new Date(Date.now() - 3_600_000).toISOString();
    const rows = Array.from({ length: counts }, (_, n) => `${time},flag-${n % features},on,1`);
    const path = join(freshDirectory(), 'history.csv');
    writeFileSync(path, ['time,feature,variant,checks', ...rows].join('\n'));

    let parts = 0;
    let waits = 0;
    const env = { FLAGMETER_URL: `http://${http}`, FLAGMETER_TOKEN: await token(http, service.credentials) };
    const context = {
      ...testContext({ env }),
      clock: systemClock,
      fetch(url: string, init: RequestInit) {
        if (url.endsWith('/imports')) parts += 1;
        if (parts === 4 && waits === 0) service.fill();
        return fetch(url, init);
      },
      async sleep(ms: number) {
        const isRetry = ms >= 500;
        if (isRetry) waits += 1;
        if (isRetry && waits === 1) service.free();
        await pause(isRetry ? 100 : ms);
      },
    };
    const target = ['--app', shop.application, '--env', 'Production', '--format', 'csv', '--json'];
    expect(await runImport.run([path, ...target], context)).toBe(0);
    expect(waits).toBeGreaterThan(0);
    const { imported, repeated } = JSON.parse(context.output.out);
    expect(imported + repeated).toBe(counts);
    expect([...(await readChecks(http, shop)).values()]).toEqual(Array(features).fill(counts / features));
    service.kill('SIGTERM');
    expect((await service.exit).code).toBe(0);
  });
});
