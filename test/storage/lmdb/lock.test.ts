import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, linkSync, mkdirSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockDataDirectory } from '../../../src/storage/lmdb/lock.ts';
import { freePorts } from '../../support/free-ports.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const main = fileURLToPath(new URL('../../../dist/node/main.js', import.meta.url));

/** Starts `serve` of the Node build. Returns the process and the first line of its output. */
async function serve(data: string): Promise<{ child: ChildProcess; said: string }> {
  const listen = [...freePorts, '--log-level', 'error'];
  const child = spawn(process.execPath, [main, 'serve', '--data', data, ...listen], { stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = [child.stdout, child.stderr].map((stream) => createInterface(stream));
  const said = await Promise.race(lines.map(async (stream) => (await once(stream, 'line'))[0] as string));
  return { child, said };
}

describe('a data directory and several processes', () => {
  it('exactly one of many processes that start at the same time locks the directory', async () => {
    const data = `${temporaryDirectory()}/data`;
    const said = (await Promise.all(Array.from({ length: 4 }, () => serve(data)))).map((each) => each.said);
    expect(said.filter((line) => /^(flagmeter ready|The store is prepared)/.test(line))).toHaveLength(1);
    expect(said.filter((line) => line.includes(`${data}: `))).toHaveLength(3);
  });

  it('the error for a locked directory contains the pid of the holder, even after files were removed', async () => {
    const data = temporaryDirectory();
    const lock = lockDataDirectory(data);
    for (const name of readdirSync(data)) renameSync(join(data, name), join(temporaryDirectory(), name));
    expect((await serve(data)).said).toBe(`Cannot use the data directory ${data}: process ${process.pid} is using it`);
    lock.release();
  });

  it('a data directory can be locked immediately after its process was killed', async () => {
    const data = temporaryDirectory();
    const first = await serve(data);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    lockDataDirectory(data).release();
  });
});

describe('lockDataDirectory', () => {
  it('only one of many callers in one process can lock a directory', () => {
    const directory = temporaryDirectory();
    for (let round = 0; round < 20; round += 1) {
      const lock = lockDataDirectory(directory);
      expect(() => lockDataDirectory(directory)).toThrow(`process ${process.pid} is using it`);
      lock.release();
    }
  });

  it('a lock applies to every path of the directory, and is kept when the directory is moved', () => {
    const directory = join(temporaryDirectory(), 'x'.repeat(150));
    const lock = lockDataDirectory(directory);
    expect(() => lockDataDirectory(`${directory}/../${'x'.repeat(150)}/`)).toThrow('is using it');
    renameSync(directory, `${directory}-moved`);
    expect(() => lockDataDirectory(`${directory}-moved`)).toThrow('is using it');
    lock.release();
  });

  it.each([
    ['symbolic', (from: string, to: string) => symlinkSync(from, to)],
    ['hard', (from: string, to: string) => linkSync(from, to)],
  ])('a directory with %s links to the files of a locked directory cannot be locked', (_kind, link) => {
    const directory = temporaryDirectory();
    const other = temporaryDirectory();
    for (const data of [directory, other]) mkdirSync(join(data, 'usage'));
    const file = join(directory, 'usage/data.mdb');
    const lock = lockDataDirectory(directory);
    writeFileSync(file, '');
    lock.coverFiles();
    link(file, join(other, 'usage/data.mdb'));
    expect(() => lockDataDirectory(other)).toThrow(
      `Cannot use the data directory ${other}: process ${process.pid} is using it`,
    );
    lock.release();
    lockDataDirectory(other).release();
  });

  it('lockDataDirectory creates a missing directory, empty and accessible only to its owner', () => {
    const directory = join(temporaryDirectory(), 'a/b');
    const lock = lockDataDirectory(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory)).toEqual([]);
    lock.release();
  });

  it('lockDataDirectory reports which directory cannot be used, and why', () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(() => lockDataDirectory(file)).toThrow(`Cannot use the data directory ${file}: it is not a directory`);
    const below = join(file, 'data');
    expect(() => lockDataDirectory(below)).toThrow(
      `Cannot use the data directory ${below}: a part of its path is not a directory`,
    );
  });

  it.runIf(process.getuid?.() !== 0)('lockDataDirectory reports a missing write permission', () => {
    const readOnly = join(temporaryDirectory(), 'read-only');
    mkdirSync(readOnly);
    chmodSync(readOnly, 0o500);
    expect(() => lockDataDirectory(readOnly)).toThrow(`Cannot use the data directory ${readOnly}: permission denied`);
  });
});
