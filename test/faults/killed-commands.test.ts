import { chownSync, cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { type Credentials, freshDirectory, prepare, startBinary, stop, token } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { compilePreload } from '../support/preload.ts';
import { runBinary } from '../support/run-binary.ts';
import { openShop, readChecks, type Shop, sendCheck } from '../support/shop.ts';

const { describe, test } = needing('g++');

let library: string;
let data: string;
let file: string;
let credentials: Credentials;

beforeAll(async () => {
  library = compilePreload('kill-at-step');
  data = join(freshDirectory(), 'data');
  file = join(freshDirectory(), 'data.backup');
  credentials = await prepare(data);
  expect(await runBinary(['backup', '--data', data, '--to', file])).toMatchObject({ code: 0 });
});

/**
 * Repeats a command until it completes. Each run is killed one step later than the previous run.
 * @returns the number of kills
 */
async function killAtEachStep(args: () => string[], then: () => Promise<void>): Promise<number> {
  for (let step = 1; ; step += 1) {
    const { signal, stderr } = await runBinary(args(), { LD_PRELOAD: library, KILL_AT: String(step) });
    if (signal === null) return step - 1;
    expect(signal, stderr).toBe('SIGKILL');
    await then();
  }
}

describe('a restore killed at any step', () => {
  test('a restore completes the data, or finds it complete, after an earlier restore was killed at any step', async () => {
    let target = '';
    const restore = () => ['restore', '--from', file, '--data', target];
    const kills = await killAtEachStep(
      () => {
        target = join(freshDirectory(), 'data');
        return restore();
      },
      async () => {
        const again = await runBinary(restore());
        if (again.code !== 0) expect(again.stderr).toContain('it has data');
        expect(await runBinary(['verify', '--data', target])).toMatchObject({ code: 0 });
        expect(readdirSync(target).sort()).toEqual(['accounts', 'usage']);
      },
    );
    expect(kills).toBeGreaterThan(10);
  });

  test('a server starts with the data or with an empty store after a restore was killed at any step', async () => {
    let target = '';
    await killAtEachStep(
      () => {
        target = join(freshDirectory(), 'data');
        return ['restore', '--from', file, '--data', target];
      },
      async () => {
        const isComplete = ['accounts', 'prepared.tmp'].some((name) => existsSync(join(target, name)));
        const service = await startBinary({ data: target, args: isComplete ? ['--existing'] : [] });
        if (isComplete) await token(service.http, credentials);
        expect((await stop(service)).code).toBe(0);
        expect(readdirSync(target).sort()).toEqual(['accounts', 'journal', 'usage']);
      },
    );
  });
});

describe('a command killed at any step on the directory of a killed server', () => {
  const checks = 3;
  let left: string;
  let shop: Shop;

  /** Creates a data directory whose last accepted packets are only in the journal. */
  beforeAll(async () => {
    left = join(freshDirectory(), 'data');
    const owner = await prepare(left);
    const service = await startBinary({ data: left });
    shop = await openShop(service.http, owner);
    for (let each = 0; each < checks; each += 1) expect(await sendCheck(service.http, shop.key, 'checkout')).toBe(202);
    await stop(service, 'SIGKILL');
  });

  test.each([
    ['backup', (target: string) => ['--to', join(target, '../kept.backup')]],
    ['compact', () => []],
  ] as const)('a server counts each packet once after %s was killed at any step', async (command, more) => {
    let target = '';
    const kills = await killAtEachStep(
      () => {
        target = join(freshDirectory(), 'data');
        cpSync(left, target, { recursive: true });
        return [command, '--data', target, ...more(target)];
      },
      async () => {
        const service = await startBinary({ data: target });
        expect(await readChecks(service.http, shop)).toEqual(new Map([['checkout', checks]]));
        expect((await stop(service)).code).toBe(0);
        expect(await runBinary(['verify', '--data', target])).toMatchObject({ code: 0 });
      },
    );
    expect(kills).toBeGreaterThan(3);
  });
});

describe('a backup', () => {
  test('backup removes the leftovers of a backup that was killed at any step', async () => {
    const folder = freshDirectory();
    const args = ['backup', '--data', data, '--to', join(folder, 'kept.backup')];
    let left = 0;
    await killAtEachStep(
      () => args,
      async () => {
        left = Math.max(left, readdirSync(folder).filter((name) => name.endsWith('.tmp')).length);
        expect(await runBinary(args)).toMatchObject({ code: 0 });
        expect(readdirSync(folder)).toEqual(['kept.backup']);
      },
    );
    expect(left).toBe(1);
  });

  test('backup keeps the files of running processes and other users, and files with other names', async () => {
    const folder = freshDirectory();
    const others = [`a.backup.${process.pid}.tmp`, 'a.backup.99999999.tmp.old', 'ab.backup.99999999.tmp'];
    const foreign = 'a.backup.99999998.tmp';
    for (const name of [...others, foreign]) writeFileSync(join(folder, name), '');
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(join(folder, foreign), 65534, 65534);
    expect(await runBinary(['backup', '--data', data, '--to', join(folder, 'a.backup')])).toMatchObject({ code: 0 });
    expect(readdirSync(folder).sort()).toEqual([...others, ...(isRoot ? [foreign] : []), 'a.backup'].sort());
  });
});
