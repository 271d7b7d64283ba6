import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { underLock } from '../../src/cli/token-store.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { testContext } from './fixture.ts';

/** The pid of a process that has ended. */
const { pid: deadPid } = spawnSync('true');

describe('underLock', () => {
  it('underLock runs work in one process at a time, and leaves no files behind', async () => {
    const directory = temporaryDirectory();
    const context = testContext();
    let within = 0;
    let most = 0;
    let done = 0;
    const work = async () => {
      within += 1;
      most = Math.max(most, within);
      await new Promise((resolve) => setImmediate(resolve));
      within -= 1;
      done += 1;
    };
    const all = Array.from({ length: 20 }, () => underLock(`${directory}/lock`, context, work));
    await Promise.all(all);
    expect({ most, done }).toEqual({ most: 1, done: 20 });
    expect(readdirSync(directory)).toEqual([]);
  });

  it('underLock releases the lock if the work fails', async () => {
    const lock = `${temporaryDirectory()}/lock`;
    const context = testContext();
    const failing = underLock(lock, context, async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await underLock(lock, context, async () => 'done')).toBe('done');
  });

  it.each([
    ['a dead process of this machine', `${deadPid}@${hostname()} 0`, 0],
    ['another machine after two minutes', '1@elsewhere 0', 121],
    ['an unknown owner after two minutes', '', 121],
  ])('underLock takes over the lock of %s', async (_who, owner, ageSeconds) => {
    const directory = temporaryDirectory();
    const context = testContext();
    writeFileSync(`${directory}/lock`, owner);
    const since = context.clock.now() / 1000 - ageSeconds;
    utimesSync(`${directory}/lock`, since, since);
    expect(await underLock(`${directory}/lock`, context, async () => 'done')).toBe('done');
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each([
    ['a living process', `${process.pid}@${hostname()} 0`],
    ['another machine', '1@elsewhere 0'],
  ])('underLock starts no work while %s holds the lock', async (_who, owner) => {
    const lock = `${temporaryDirectory()}/lock`;
    const context = testContext();
    writeFileSync(lock, owner);
    // The owner keeps the lock fresh.
    const sleep = async (ms: number) => {
      await context.sleep(ms);
      const now = context.clock.now() / 1000;
      utimesSync(lock, now, now);
    };
    await expect(underLock(lock, { ...context, sleep }, async () => {})).rejects.toMatchObject({
      exitCode: 7,
      message: `Another flagmeter process holds ${lock}: stop it first`,
    });
    expect(readFileSync(lock, 'utf8')).toBe(owner);
  });

  it('underLock does not remove the lock after another process has taken it over', async () => {
    const lock = `${temporaryDirectory()}/lock`;
    const context = { ...testContext(), randomBytes };
    await underLock(lock, context, async () => writeFileSync(lock, 'another'));
    expect(existsSync(lock)).toBe(true);
  });
});
