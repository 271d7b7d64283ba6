import { expect, onTestFinished, test } from 'vitest';
import { openLmdb } from '../../../src/storage/lmdb/lmdb.ts';
import { lockDataDirectory, waitUntilSharable } from '../../../src/storage/lmdb/lock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A data directory that this process has locked, like a starting server. Only a pause advances the clock. */
async function locked() {
  const data = temporaryDirectory();
  for (const store of ['accounts', 'usage']) await openLmdb(`${data}/${store}`).close();
  const lock = lockDataDirectory(data);
  onTestFinished(() => lock.release());
  let now = 0;
  const wait = (then: (paused: number) => void) =>
    waitUntilSharable(data, { monotonic: () => now }, async (ms) => {
      now += ms;
      then(now);
    });
  return { data, lock, wait };
}

test('a directory without a server can be used immediately', async () => {
  const { lock, wait } = await locked();
  lock.release();
  await wait(() => expect.fail('no wait is expected'));
});

test('waitUntilSharable waits for a starting server to open both stores', async () => {
  const { data, wait } = await locked();
  const opened = new Map<number, string>([
    [500, 'accounts'],
    [800, 'usage'],
  ]);
  let waited = 0;
  await wait((now) => {
    waited = now;
    const store = opened.get(now);
    if (store === undefined) return;
    const lmdb = openLmdb(`${data}/${store}`);
    onTestFinished(() => lmdb.close());
  });
  expect(waited).toBe(800);
});

test('waitUntilSharable waits for a stopping server to exit', async () => {
  const { lock, wait } = await locked();
  let waited = 0;
  await wait((now) => {
    waited = now;
    if (now === 300) lock.release();
  });
  expect(waited).toBe(300);
});

test('waitUntilSharable reports a server that does not open its stores in time', async () => {
  const { wait } = await locked();
  await expect(wait(() => {})).rejects.toThrow(
    `with process ${process.pid}, which has locked it but not opened its stores`,
  );
});
