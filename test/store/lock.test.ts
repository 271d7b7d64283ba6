import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { lockDataDirectory } from '../../src/store/lock.ts';

const bun = join(import.meta.dirname, '../../node_modules/.bin/bun');
const root = mkdtempSync(join(tmpdir(), 'flagmeter-lock-'));
const script = join(root, 'lock-process.mjs');
const children = new Set<ChildProcess>();

beforeAll(() => {
  const source = join(import.meta.dirname, 'lock-process.ts');
  execFileSync(bun, ['build', source, '--target=node', `--outfile=${script}`], { stdio: 'ignore' });
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function freshDirectory(): string {
  return mkdtempSync(join(root, 'data-'));
}

async function start(runtime: string, directory: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(runtime, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.add(child);
  const [said] = await once(createInterface(child.stdout), 'line');
  return { child, said };
}

describe.each([
  ['Node', process.execPath],
  ['Bun', bun],
])('a data directory between processes of %s', (_name, runtime) => {
  it('goes to exactly one of many that start at once', async () => {
    const directory = freshDirectory();
    const started = await Promise.all(Array.from({ length: 8 }, () => start(runtime, directory)));
    const said = started.map((process) => process.said).sort();
    expect(said.filter((line) => line === 'locked')).toHaveLength(1);
    expect(said.filter((line) => line.includes(`${directory}: process `))).toHaveLength(7);
    expect(readdirSync(directory)).toHaveLength(1);
  });

  it('is refused with the pid of the process that has it', async () => {
    const directory = freshDirectory();
    const first = await start(runtime, directory);
    const second = await start(runtime, directory);
    expect(first.said).toBe('locked');
    expect(second.said).toBe(
      `Cannot use the data directory ${directory}: process ${first.child.pid} is using it`,
    );
  });

  it('is taken over at once after SIGKILL', async () => {
    const directory = freshDirectory();
    const first = await start(runtime, directory);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    expect(readdirSync(directory)).toHaveLength(1);
    const second = await start(runtime, directory);
    expect(second.said).toBe('locked');
    expect(readdirSync(directory)).toHaveLength(1);
  });

  it('goes to exactly one of many that find the claim of a dead one', async () => {
    const directory = freshDirectory();
    const first = await start(runtime, directory);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const started = await Promise.all(Array.from({ length: 8 }, () => start(runtime, directory)));
    expect(started.filter(({ said }) => said === 'locked')).toHaveLength(1);
    expect(readdirSync(directory)).toHaveLength(1);
  });

  it('is free again, and the process ends by itself, after a release', async () => {
    const directory = freshDirectory();
    const { child } = await start(runtime, directory);
    child.stdin?.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is locked by a path that is too long for a socket address', async () => {
    const directory = join(freshDirectory(), 'x'.repeat(150));
    const first = await start(runtime, directory);
    const second = await start(runtime, directory);
    expect([first.said, second.said]).toEqual(['locked', expect.stringContaining('is using it')]);
    expect(readdirSync(directory)).toHaveLength(1);
  });
});

describe('lockDataDirectory', () => {
  it('gives exactly one of many in one process the lock, round after round', async () => {
    const directory = freshDirectory();
    for (let round = 0; round < 20; round += 1) {
      const tries = await Promise.allSettled(Array.from({ length: 10 }, () => lockDataDirectory(directory)));
      const won = tries.filter((attempt) => attempt.status === 'fulfilled');
      expect(won).toHaveLength(1);
      await won[0]?.value.release();
      expect(readdirSync(directory)).toEqual([]);
    }
  });

  it('makes a missing directory, for its owner only', async () => {
    const directory = join(freshDirectory(), 'a/b');
    const lock = await lockDataDirectory(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    await lock.release();
  });

  it('leaves other files alone', async () => {
    const directory = freshDirectory();
    writeFileSync(join(directory, 'serve-notes.sock'), '');
    mkdirSync(join(directory, 'usage'));
    const lock = await lockDataDirectory(directory);
    await lock.release();
    expect(readdirSync(directory).sort()).toEqual(['serve-notes.sock', 'usage']);
  });

  it('says which directory cannot be written and why', async () => {
    const file = join(freshDirectory(), 'file');
    writeFileSync(file, '');
    await expect(lockDataDirectory(file)).rejects.toThrow(
      `Cannot use the data directory ${file}: it is not a directory`,
    );
    const below = join(file, 'data');
    await expect(lockDataDirectory(below)).rejects.toThrow(
      `Cannot use the data directory ${below}: a part of its path is not a directory`,
    );
  });

  it.runIf(process.getuid?.() !== 0)('says that it may not write', async () => {
    const directory = freshDirectory();
    const readOnly = join(directory, 'read-only');
    mkdirSync(readOnly, { mode: 0o500 });
    await expect(lockDataDirectory(readOnly)).rejects.toThrow(
      `Cannot use the data directory ${readOnly}: this user may not write there`,
    );
  });
});
