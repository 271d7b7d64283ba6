import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { binaryPath, freshDirectory, startBinary, stop } from '../support/binary.ts';
import { empty, enlarge } from '../support/large-store.ts';
import { copyPrepared } from '../support/prepared.ts';
import { runBinary, runProgram } from '../support/run-binary.ts';
import { openShop, readChecks, sendCheck } from '../support/shop.ts';

let prepared: string;

/** Many records were added and most were removed, so more than a third of the file is free. */
beforeAll(async () => {
  prepared = join(freshDirectory(), 'data');
  await copyPrepared(prepared);
  await enlarge(prepared, 20e6);
  await empty(prepared);
  await enlarge(prepared, 10e6);
});

/** Copies the directory to compact. Returns its path and the content of its files. */
function fresh() {
  const data = join(freshDirectory(), 'data');
  cpSync(prepared, data, { recursive: true });
  const files = ['accounts', 'usage'].map((store) => join(data, store, 'data.mdb'));
  return { data, files, content: () => files.map((file) => readFileSync(file)) };
}

/** Removes the lines about progress, which a command prints if it runs for a second. */
const removeProgress = (stderr: string) => stderr.replaceAll(/^[\w ]+: \d+ MiB(, \d+ %)?\n/gm, '');

/** @returns true if the data directory is complete and valid, without leftover files */
async function isWhole(data: string): Promise<boolean> {
  const { code } = await runBinary(['verify', '--data', data]);
  const names = readdirSync(join(data, 'usage')).sort();
  return code === 0 && names.join() === 'data.mdb,lock.mdb';
}

test('flagmeter compact shrinks a store with free pages and prints the sizes, and a server can use the store', async () => {
  const { data, files } = fresh();
  const before = statSync(files[1]!).size;
  const { code, stdout, stderr } = await runBinary(['compact', '--data', data]);
  expect([code, removeProgress(stderr)]).toEqual([0, '']);
  const after = statSync(files[1]!).size;
  expect(after).toBeLessThan(before * 0.7);
  const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  const gain = `${mebibytes(before)} before, ${mebibytes(after)} now, ${mebibytes(before - after)} freed`;
  expect(stdout).toContain(`${files[1]}: ${gain}\n`);
  expect(await isWhole(data)).toBe(true);
  const service = await startBinary({ data });
  expect((await fetch(`http://${service.http}/readyz`)).status).toBe(200);
  await stop(service);
});

test('flagmeter compact folds the journal of a killed server into the smaller store, and removes the journal', async () => {
  const data = join(freshDirectory(), 'data');
  const credentials = await copyPrepared(data);
  const killed = await startBinary({ data });
  const shop = await openShop(killed.http, credentials);
  expect(await sendCheck(killed.http, shop.key, 'checkout')).toBe(202);
  await stop(killed, 'SIGKILL');
  expect((await runBinary(['verify', '--data', data])).stdout).toContain('not yet in the store');
  const compacted = await runBinary(['compact', '--data', data]);
  expect([compacted.code, removeProgress(compacted.stderr)]).toEqual([0, '']);
  expect(readdirSync(data).sort()).toEqual(['accounts', 'usage']);
  expect(await isWhole(data)).toBe(true);
  const service = await startBinary({ data });
  expect(await readChecks(service.http, shop)).toEqual(new Map([['checkout', 1]]));
  expect(service.stderr()).not.toContain('journal');
  await stop(service);
});

test('flagmeter compact refuses a directory in use', async () => {
  const { data } = fresh();
  const service = await startBinary({ data });
  expect(await runBinary(['compact', '--data', data])).toMatchObject({
    code: 1,
    stderr: `Cannot use the data directory ${data}: process ${service.pid} is using it; stop it first\n`,
  });
  await stop(service);
});

test('flagmeter compact leaves each file unchanged if the disk becomes full', async () => {
  const { data, content } = fresh();
  const before = content();
  // The system refuses writes beyond this file size, as on a full disk.
  const script = `trap '' XFSZ; ulimit -f 8192; exec "${binaryPath}" compact --data "${data}"`;
  const { code, stderr } = await runProgram('sh', ['-c', script]);
  expect({ code, stderr: removeProgress(stderr) }).toEqual({
    code: 1,
    stderr: `Cannot compact ${join(data, 'usage/data.mdb')}: cannot write its copy: File too large. The file is unchanged\n`,
  });
  expect(content()[1]!.equals(before[1]!)).toBe(true);
  expect(await isWhole(data)).toBe(true);
});

test('a backup leaves the previous backup unchanged if the disk becomes full', async () => {
  const { data } = fresh();
  const to = join(freshDirectory(), 'backup');
  const script = `echo before >"${to}"; trap '' XFSZ; ulimit -f 8192; exec "${binaryPath}" backup --data "${data}" --to "${to}"`;
  const { code, stderr } = await runProgram('sh', ['-c', script]);
  expect({ code, stderr: removeProgress(stderr) }).toEqual({
    code: 1,
    stderr: `Cannot write ${to}: no space left on device. The previous file is unchanged\n`,
  });
  expect(readFileSync(to, 'utf8')).toBe('before\n');
  expect(readdirSync(join(to, '..'))).toEqual(['backup']);
});

test.each([
  ['compact', 'compacting'],
  ['verify', 'checking'],
])('%s shows its progress at a terminal', async (command, words) => {
  const { data } = fresh();
  const { stdout } = await runProgram('script', ['-qec', `"${binaryPath}" ${command} --data "${data}"`, '/dev/null']);
  expect(stdout).toMatch(new RegExp(`\\r${words} \\[[#.]{30}\\] \\d+ % \\d+ MiB`));
});
