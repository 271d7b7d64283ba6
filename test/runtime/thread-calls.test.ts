import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { Refusal } from '../../src/contract/errors.ts';
import { ThreadCalls } from '../../src/runtime/thread-calls.ts';

type Slow = { readonly wait: () => Promise<string>; readonly close: () => void };

/** Returns a caller of actions. Both ends of the channel are in this thread. */
function callsTo<Remote extends Record<string, (task: never) => unknown>>(actions: Remote) {
  const { port1, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(16));
  new ThreadCalls({ port: port2, signal }, actions);
  const calls = new ThreadCalls<Remote>({ port: port1, signal });
  onTestFinished(() => {
    port1.close();
    port2.close();
  });
  return calls;
}

test('ThreadCalls responds to calls when their results are ready, in any order', async () => {
  let release = (_: string) => {};
  const waited = new Promise<string>((resolve) => {
    release = resolve;
  });
  const calls = callsTo({ wait: () => waited, double: (n: number) => 2 * n });
  const first = calls.call('wait');
  expect(await calls.call('double', 21)).toBe(42);
  release('later');
  expect(await first).toBe('later');
});

test('a refusal from another thread keeps its class, its code and its retry delay', async () => {
  const calls = callsTo({
    refuse() {
      throw new Refusal('backpressure', 'Too many', 7);
    },
  });
  const error = await calls.call('refuse').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Refusal);
  expect(error).toMatchObject({ code: 'backpressure', message: 'Too many', retryAfter: 7 });
});

test('an error from another thread keeps its message and its code', async () => {
  const calls = callsTo({
    fail() {
      throw Object.assign(new Error('no space left'), { code: 28 });
    },
  });
  await expect(calls.call('fail')).rejects.toMatchObject({ message: 'no space left', code: 28 });
});

test('a call of close ends the thread after its response, and pending calls get no response', async () => {
  let release = (_: string) => {};
  const waited = new Promise<string>((resolve) => {
    release = resolve;
  });
  const calls = callsTo<Slow>({ wait: () => waited, close: () => {} });
  let hasResponse = false;
  void calls.call('wait').then(() => {
    hasResponse = true;
  });
  await calls.call('close');
  release('too late');
  await waited;
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasResponse).toBe(false);
});
