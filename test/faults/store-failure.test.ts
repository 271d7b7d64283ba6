import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import {
  binaryPath,
  cleanUp,
  freshDirectory,
  prepare,
  startBinary,
  startProcess,
} from '../support/binary.ts';
import { openShop, readChecks, sendCheck } from '../support/shop.ts';

afterAll(cleanUp);

async function isReady(http: string): Promise<number> {
  return (await fetch(`http://${http}/readyz`)).status;
}

describe('when fdatasync fails', () => {
  test('no packet is answered 2xx, the log says why, the process ends with 1, and a restart has what was accepted', async () => {
    const directory = freshDirectory();
    const data = `${directory}/data`;
    const trigger = `${directory}/fail`;
    const library = `${directory}/failing-sync.so`;
    const source = fileURLToPath(new URL('failing-sync.c', import.meta.url));
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, source]);
    const credentials = await prepare(data);
    const service = await startBinary({ data, env: { LD_PRELOAD: library, FAILING_SYNC: trigger } });
    const shop = await openShop(service.http, credentials);
    expect(await sendCheck(service.http, shop.key, 'kept')).toBe(202);

    writeFileSync(trigger, '');
    expect(await sendCheck(service.http, shop.key, 'lost')).toBe(503);
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(service.stderr()).toContain('"the store failed');

    const again = await startBinary({ data });
    const checks = await readChecks(again.http, shop);
    expect(checks.get('kept')).toBe(1);
    expect(checks.get('lost') ?? 0).toBeLessThanOrEqual(1);
    again.kill('SIGTERM');
    expect((await again.exit).code).toBe(0);
  });
});

/** A file system of a few megabytes needs a mount namespace, which not every host lets a user have. */
function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', '--map-root-user', 'mount', '-t', 'tmpfs', 'none', '/mnt'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(canMount())('on a full disk', () => {
  test('packets are answered 503 and lost nothing, and are taken again once there is room', async () => {
    const directory = freshDirectory();
    const disk = `${directory}/disk`;
    mkdirSync(disk);
    const serve = `exec "${binaryPath}" serve --data "${disk}/data" --listen 127.0.0.1:0 --grpc-listen 127.0.0.1:0`;
    const init = `"${binaryPath}" init --data "${disk}/data" --admin-email a@example.com --json >"${directory}/init.json"`;
    const script = `mount -t tmpfs -o size=48m none "${disk}" && ${init} && ${serve}`;
    const service = await startProcess('unshare', ['--mount', '--map-root-user', 'sh', '-c', script]);
    const credentials = JSON.parse(execFileSync('cat', [`${directory}/init.json`], { encoding: 'utf8' }));
    const shop = await openShop(service.http, credentials);
    expect(await sendCheck(service.http, shop.key, 'before')).toBe(202);

    const filler = `/proc/${service.pid}/root${disk}/filler`;
    expect(existsSync(`/proc/${service.pid}/root${disk}/data`)).toBe(true);
    fillDisk(filler);
    const accepted = await sendUntilFull(service.http, shop.key);
    expect(await isReady(service.http)).toBe(503);
    expect(await sendCheck(service.http, shop.key, 'refused')).toBe(503);

    rmSync(filler);
    while ((await isReady(service.http)) !== 200) await pause(50);
    expect(await sendCheck(service.http, shop.key, 'after')).toBe(202);
    const checks = await readChecks(service.http, shop);
    expect(checks.get('before')).toBe(1);
    expect(checks.get('after')).toBe(1);
    expect(checks.has('refused')).toBe(false);
    const filling = [...checks].filter(([feature]) => feature.startsWith('filling-'));
    expect(filling.reduce((sum, [, count]) => sum + count, 0)).toBe(accepted);
    expect(service.stderr()).toContain('the disk is full');
    service.kill('SIGTERM');
    expect((await service.exit).code).toBe(0);
  });
});

function fillDisk(file: string): void {
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M'], { stdio: 'ignore' });
  } catch {
    // dd ends with an error when there is no room left: that is what it is for.
  }
}

/** Sends packets of ever new features until one is refused; gives how many were accepted. */
async function sendUntilFull(http: string, key: string): Promise<number> {
  for (let accepted = 0; ; accepted += 1) {
    const status = await sendCheck(http, key, `filling-${accepted}`);
    if (status === 503) return accepted;
    expect(status).toBe(202);
  }
}
