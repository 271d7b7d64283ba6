import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  watch,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { binaryPath, freshDirectory, startBinary, stop } from '../support/binary.ts';
import { enlarge } from '../support/large-store.ts';
import { copyPrepared } from '../support/prepared.ts';
import { runBinary } from '../support/run-binary.ts';
import { openShop, sendCheck } from '../support/shop.ts';

/** Size of the stores. At this size, commands run long enough for a signal to arrive, even on the fastest disk. */
const storeBytes = 100e6;

/** Size of a store whose backup exceeds the buffer of a pipe. The command blocks until the pipe is read. */
const pipedBytes = 5e6;

let data: string;
let file: string;
let piped: string;

beforeAll(async () => {
  data = join(freshDirectory(), 'data');
  await copyPrepared(data);
  await enlarge(data, storeBytes);
  file = join(freshDirectory(), 'good.backup');
  expect(await runBinary(['backup', '--data', data, '--to', file])).toMatchObject({ code: 0 });
  piped = join(freshDirectory(), 'data');
  await copyPrepared(piped);
  await enlarge(piped, pipedBytes);
});

/** Starts a command and collects its output. The command has the lowest priority, so that signals arrive in time. */
function begin(args: readonly string[]): ChildProcess & { readonly said: { text: string } } {
  const env = { PATH: process.env['PATH'] };
  const child = spawn('nice', ['-n', '19', binaryPath, ...args], { stdio: 'pipe', env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { text: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.text += text;
  });
  return Object.assign(child, { said });
}

/** Starts a server that is stopped at the end of the test, so that a failed test does not block the directory. */
async function serve(options: Parameters<typeof startBinary>[0]) {
  const service = await startBinary(options);
  onTestFinished(() => void service.kill('SIGKILL'));
  return service;
}

/** Progress lines that a command prints once it has run for a second. */
const progress = /^\w+( up)?: \d+ MiB(, \d+ %)?\n/gm;

/** Interrupts a command. @returns the exit code and the output without progress */
async function interrupt(command: ReturnType<typeof begin>, signal: NodeJS.Signals = 'SIGINT') {
  const ended = once(command, 'close');
  command.kill(signal);
  const [code] = await ended;
  return { code, said: command.said.text.replaceAll(progress, '') };
}

/** True if a process has a handler of SIGINT, according to its mask of caught signals. */
function handlesInterrupt({ pid }: ChildProcess): boolean {
  const [, caught = '0'] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (BigInt(`0x${caught}`) & 2n) !== 0n;
}

/** Resolves when a file with a matching name is created in a directory. */
async function appears(directory: string, name: RegExp): Promise<void> {
  const watcher = watch(directory);
  try {
    if (readdirSync(directory).some((each) => name.test(each))) return;
    await new Promise<void>((resolve) => watcher.on('change', (_, changed) => name.test(String(changed)) && resolve()));
  } finally {
    watcher.close();
  }
}

/** Returns the files below a directory, with their sizes and modification times. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.endsWith('lock.mdb'))
    .map((name) => {
      const { size, mtimeMs } = statSync(join(directory, name));
      return name.endsWith('.mdb') ? `${name} ${size} ${mtimeMs}` : name;
    })
    .sort();
}

const unchanged = { code: 130, said: 'Interrupted: nothing was changed\n' };

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a backup to a file ends on %s, and the previous file remains',
  async (signal) => {
    const folder = freshDirectory();
    const to = join(folder, 'backup');
    await pipeline(createReadStream(file, { end: 999 }), createWriteStream(to));
    const backup = begin(['backup', '--data', data, '--to', to]);
    await appears(folder, /^backup\.\d+\.tmp$/);
    expect(await interrupt(backup, signal)).toEqual(unchanged);
    expect(readdirSync(folder)).toEqual(['backup']);
    expect(statSync(to).size).toBe(1000);
  },
);

test('a backup of a running server ends on Ctrl-C, and leaves no open read transaction behind', async () => {
  const service = await serve({ data });
  const folder = freshDirectory();
  const backup = begin(['backup', '--data', data, '--to', join(folder, 'backup')]);
  await appears(folder, /\.tmp$/);
  expect(await interrupt(backup)).toEqual(unchanged);
  expect(readdirSync(folder)).toEqual([]);
  const metrics = await (await fetch(`http://${service.http}/metrics`)).text();
  expect(metrics).toMatch(/^flagmeter_oldest_reader_commits\{store="usage"\} 0$/m);
  expect(await stop(service)).toEqual({ code: 0, signal: null });
});

test('a backup that waits for a server ends on Ctrl-C, and removes its fold request', async () => {
  const own = join(freshDirectory(), 'data');
  const credentials = await copyPrepared(own);
  const service = await serve({ data: own });
  const { key } = await openShop(service.http, credentials);
  expect(await sendCheck(service.http, key, 'checkout')).toBe(202);
  service.kill('SIGSTOP');
  const journal = join(own, 'journal');
  const backup = begin(['backup', '--data', own, '--to', join(freshDirectory(), 'backup')]);
  await appears(journal, /^fold\.\d+\.request$/);
  expect(await interrupt(backup)).toEqual(unchanged);
  expect(readdirSync(journal)).toEqual(['1', '2'].filter((lane) => existsSync(join(journal, lane))));
  service.kill('SIGCONT');
  expect(await stop(service)).toEqual({ code: 0, signal: null });
});

test('a backup to a pipe without a reader ends on Ctrl-C', async () => {
  const backup = begin(['backup', '--data', piped, '--to', '-']);
  await once(backup.stdout!, 'readable');
  expect(await interrupt(backup)).toEqual(unchanged);
});

test('a backup to a pipe reports that the reader has exited', async () => {
  const backup = begin(['backup', '--data', piped, '--to', '-']);
  await once(backup.stdout!, 'readable');
  backup.stdout!.destroy();
  const [code] = await once(backup, 'close');
  const words = 'Cannot write to standard output: its reader closed the pipe before the backup was complete\n';
  expect([code, backup.said.text]).toEqual([1, words]);
});

test('a backup of a server that stops during the backup is complete', async () => {
  const service = await serve({ data: piped });
  const backup = begin(['backup', '--data', piped, '--to', '-']);
  await once(backup.stdout!, 'readable');
  expect(await stop(service)).toEqual({ code: 0, signal: null });
  const copy = join(freshDirectory(), 'backup');
  await pipeline(backup.stdout!, createWriteStream(copy));
  expect(await runBinary(['verify', copy])).toMatchObject({ code: 0 });
});

test('SIGTERM ends the scheduled backup of a server, and the backup leaves no files behind', async () => {
  const folder = freshDirectory();
  const service = await serve({ data, args: ['--backup-every', '24h', '--backup-to', folder] });
  await appears(folder, /\.tmp$/);
  expect(await stop(service)).toEqual({ code: 0, signal: null });
  expect(readdirSync(folder)).toEqual([]);
  expect(service.stderr()).not.toContain('backup completed');
});

test('a restore ends on Ctrl-C, and leaves the directory empty', async () => {
  const target = join(freshDirectory(), 'target');
  mkdirSync(target);
  const restore = begin(['restore', '--from', file, '--data', target]);
  await appears(target, /./);
  expect(await interrupt(restore)).toEqual(unchanged);
  expect(readdirSync(target)).toEqual([]);
});

test('a restore from a pipe without data ends on Ctrl-C', async () => {
  const target = join(freshDirectory(), 'target');
  mkdirSync(target);
  const restore = begin(['restore', '--from', '-', '--data', target]);
  // The first pages describe the backup. The restore creates the stores after reading them.
  createReadStream(file, { end: 99_999 }).pipe(restore.stdin!, { end: false });
  await appears(target, /./);
  expect(await interrupt(restore)).toEqual(unchanged);
  expect(readdirSync(target)).toEqual([]);
});

test('a restore from a file that is not a backup ends immediately, without reading the rest', async () => {
  const restore = begin(['restore', '--from', '-', '--data', join(freshDirectory(), 'target')]);
  restore.stdin!.write(Buffer.alloc(5000, 'not a backup'));
  const [code] = await once(restore, 'close');
  const words = 'Cannot use standard input: it is not a flagmeter backup\n';
  expect([code, restore.said.text]).toEqual([1, words]);
});

test('verify ends on Ctrl-C for a directory and for a backup, and leaves no files behind', async () => {
  const before = filesIn(data);
  const verify = begin(['verify', '--data', data]);
  await expect.poll(() => handlesInterrupt(verify), { interval: 1 }).toBe(true);
  expect(await interrupt(verify)).toEqual(unchanged);
  expect(filesIn(data)).toEqual(before);

  const ofBackup = begin(['verify', file]);
  await appears(join(file, '..'), /\.verify-/);
  expect(await interrupt(ofBackup)).toEqual(unchanged);
  expect(readdirSync(join(file, '..'))).toEqual(['good.backup']);
});

test('compact stops on Ctrl-C without changing data', async () => {
  const usage = join(data, 'usage');
  const before = filesIn(usage);
  const compact = begin(['compact', '--data', data]);
  await appears(usage, /^compact\.tmp$/);
  expect(await interrupt(compact)).toEqual({ code: 130, said: 'Interrupted: no data was changed\n' });
  expect(filesIn(usage)).toEqual(before);
  expect(existsSync(join(usage, 'compact.tmp'))).toBe(false);
  expect(await runBinary(['verify', '--data', data])).toMatchObject({ code: 0 });
});
