import { createHash } from 'node:crypto';
import { chownSync, cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { checkDirectory, type Finding } from '../../src/storage/backup/check-directory.ts';
import { Pace } from '../../src/storage/backup/pace.ts';
import { type Credentials, freshDirectory, prepare, startBinary, stop, token } from '../support/binary.ts';
import { frontThreads } from '../support/front-threads.ts';
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

/** Returns the names below a directory, without the locks of LMDB. */
function namesIn(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => !name.endsWith('lock.mdb')).sort();
}

/** Returns a digest of the files in a directory, without the numbers in their names. */
function digest(directory: string): string {
  const hash = createHash('sha256');
  for (const name of namesIn(directory)) {
    const path = join(directory, name);
    hash.update(`\n${name.replaceAll(/\d+/g, '')}\n`);
    if (!statSync(path).isDirectory()) hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}

/** The directories that a kill before each step of a command leaves behind. Directories with the same content are listed once. */
interface Killed {
  readonly kills: number;
  readonly left: readonly string[];
}

/**
 * Runs a command that copies the changed directory before each of its steps, and kills a second run in the middle, which
 * must leave the files of the copy.
 * @param prepareRun prepares a run; returns the arguments and the directory that the command changes
 * @param describeState returns the same text for directories that need only one check
 */
async function killAtEachStep(
  prepareRun: () => { args: string[]; changed: string },
  describeState = digest,
): Promise<Killed> {
  const { args, changed } = prepareRun();
  const copies = freshDirectory();
  const whole = await runBinary(args, { LD_PRELOAD: library, CHANGED: changed, COPIES: copies });
  expect(whole).toMatchObject({ signal: null });
  const steps = readdirSync(copies).map(Number);
  const kills = Math.max(...steps);
  const left = new Map<string, string>();
  for (let step = 1; step <= kills; step += 1) {
    const copied = join(copies, String(step));
    const state = existsSync(copied) ? describeState(copied) : '';
    if (!left.has(state)) left.set(state, copied);
  }
  await expectKillLeaves(join(copies, String(steps.sort((a, b) => a - b)[steps.length >> 1])), prepareRun());
  return { kills, left: [...left.values()] };
}

/** Kills a command before the step that a copy is named after. */
async function expectKillLeaves(copied: string, { args, changed }: { args: string[]; changed: string }): Promise<void> {
  const { signal, stderr } = await runBinary(args, { LD_PRELOAD: library, KILL_AT: basename(copied) });
  expect(signal, stderr).toBe('SIGKILL');
  const describeFiles = (directory: string) => namesIn(directory).map((name) => name.replaceAll(/\d+/g, ''));
  expect(describeFiles(changed)).toEqual(describeFiles(copied));
}

/** Checks a directory as `flagmeter verify` does. */
async function expectSound(data: string): Promise<void> {
  const pace = new Pace({ clock: systemClock, over: new AbortController().signal });
  const findings: Finding[] = [];
  expect(await checkDirectory(data, pace, (finding) => findings.push(finding)), JSON.stringify(findings)).toBe(true);
}

function copy(from: string): string {
  const to = join(freshDirectory(), 'data');
  if (existsSync(from)) cpSync(from, to, { recursive: true });
  return to;
}

test('the next startup completes a data directory, no matter when its preparation was killed', async () => {
  const prepareRun = () => {
    const changed = join(freshDirectory(), 'data');
    return { args: ['init', '--data', changed, '--admin-email', 'a@example.com'], changed };
  };
  // A preparation creates random ids and keys.
  const { kills, left } = await killAtEachStep(prepareRun, (directory) => namesIn(directory).join());
  console.log(`init: ${kills} kills left ${left.length} different directories`);
  expect(kills).toBeGreaterThan(3);
  for (const data of left) {
    await stop(await startBinary({ data, args: frontThreads(0) }));
    expect(readdirSync(data).sort()).toEqual(['accounts', 'journal', 'usage']);
  }
});

describe('a restore killed at any step', () => {
  let killed: Killed;

  beforeAll(async () => {
    killed = await killAtEachStep(() => {
      const changed = join(freshDirectory(), 'data');
      return { args: ['restore', '--from', file, '--data', changed], changed };
    });
    console.log(`restore: ${killed.kills} kills left ${killed.left.length} different directories`);
  });

  test('a restore completes the data, or finds it complete, after an earlier restore was killed at any step', async () => {
    expect(killed.kills).toBeGreaterThan(10);
    for (const left of killed.left) {
      const target = copy(left);
      const again = await runBinary(['restore', '--from', file, '--data', target]);
      if (again.code !== 0) expect(again.stderr).toContain('it has data');
      await expectSound(target);
      expect(readdirSync(target).sort()).toEqual(['accounts', 'usage']);
    }
  });

  test('a server starts with the data or with an empty store after a restore was killed at any step', async () => {
    for (const left of killed.left) {
      const target = copy(left);
      const isComplete = ['accounts', 'prepared.tmp'].some((name) => existsSync(join(target, name)));
      const service = await startBinary({
        data: target,
        args: [...frontThreads(0), ...(isComplete ? ['--existing'] : [])],
      });
      if (isComplete) await token(service.http, credentials);
      expect((await stop(service)).code).toBe(0);
      expect(readdirSync(target).sort()).toEqual(['accounts', 'journal', 'usage']);
    }
  });
});

describe('a command killed at any step on the directory of a killed server', () => {
  const checks = 3;
  let unfolded: string;
  let shop: Shop;

  /** Creates a data directory whose last accepted packets are only in the journal. */
  beforeAll(async () => {
    unfolded = join(freshDirectory(), 'data');
    const owner = await prepare(unfolded);
    const service = await startBinary({ data: unfolded });
    shop = await openShop(service.http, owner);
    for (let each = 0; each < checks; each += 1) expect(await sendCheck(service.http, shop.key, 'checkout')).toBe(202);
    await stop(service, 'SIGKILL');
  });

  test.each([
    ['backup', (target: string) => ['--to', join(target, '../kept.backup')]],
    ['compact', () => []],
  ] as const)('a server counts each packet once after %s was killed at any step', async (command, more) => {
    const { kills, left } = await killAtEachStep(() => {
      const changed = copy(unfolded);
      return { args: [command, '--data', changed, ...more(changed)], changed };
    });
    console.log(`${command}: ${kills} kills left ${left.length} different directories`);
    for (const target of left) {
      const service = await startBinary({ data: target, args: frontThreads(0) });
      expect(await readChecks(service.http, shop)).toEqual(new Map([['checkout', checks]]));
      expect((await stop(service)).code).toBe(0);
      await expectSound(target);
    }
    expect(kills).toBeGreaterThan(3);
  });
});

describe('a backup', () => {
  test('backup removes the leftovers of a backup that was killed at any step', async () => {
    const backup = (folder: string) => ['backup', '--data', data, '--to', join(folder, 'kept.backup')];
    const { kills, left } = await killAtEachStep(() => {
      const changed = freshDirectory();
      return { args: backup(changed), changed };
    });
    console.log(`backup: ${kills} kills left ${left.length} different directories`);
    const leftovers = left.map((folder) => readdirSync(folder).filter((name) => name.endsWith('.tmp')).length);
    for (const folder of left) {
      expect(await runBinary(backup(folder))).toMatchObject({ code: 0 });
      expect(readdirSync(folder)).toEqual(['kept.backup']);
    }
    expect(Math.max(...leftovers)).toBe(1);
  });

  test('backup does not delete files of running processes, of other users, or with other names', async () => {
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
