import { expect, test } from 'vitest';
import { LargeBodies } from '../../../src/ingest/admission/large-bodies.ts';

const kilobytes = (count: number) => new Uint8Array(count * 1024);

/** Creates `LargeBodies` for which the test decides when an event loop iteration ends. */
function open(most = 1e9) {
  const ends: (() => void)[] = [];
  const bodies = new LargeBodies(most, (callback) => ends.push(callback));
  const order: string[] = [];
  async function work(sender: string, size: number): Promise<void> {
    await bodies.waitForSlot(kilobytes(size), sender);
    order.push(sender);
  }
  async function endTurn(): Promise<void> {
    ends.shift()?.();
    for (let n = 0; n < 10; n += 1) await Promise.resolve();
  }
  return { bodies, order, work, endTurn, ends };
}

test('a small body never waits for large bodies', () => {
  const { bodies } = open();
  const small = () => bodies.waitForSlot(kilobytes(4), 'quiet');
  expect(small()).toBeUndefined();
  for (let n = 0; n < 10; n += 1) void bodies.waitForSlot(kilobytes(60), 'noisy');
  expect(small()).toBeUndefined();
});

test('each event loop iteration processes only a few large bodies', async () => {
  const { order, work, endTurn, ends } = open();
  for (let n = 0; n < 6; n += 1) void work('a', 60);
  await Promise.resolve();
  expect(order).toHaveLength(1);
  await endTurn();
  expect(order).toHaveLength(2);
  for (let turn = 0; turn < 4; turn += 1) await endTurn();
  expect(order).toHaveLength(6);
  await endTurn();
  expect(ends).toHaveLength(0);
});

test('senders get slots round robin, regardless of the number of their large bodies', async () => {
  const { order, work, endTurn } = open();
  for (let n = 0; n < 5; n += 1) void work('noisy', 80);
  for (let n = 0; n < 2; n += 1) void work('quiet', 80);
  void work('other', 80);
  for (let turn = 0; turn < 8; turn += 1) await endTurn();
  expect(order).toEqual(['noisy', 'noisy', 'quiet', 'other', 'noisy', 'quiet', 'noisy', 'noisy']);
});

test('a body that is larger than the limit of an event loop iteration gets its own iteration', async () => {
  const { order, work, endTurn } = open();
  void work('first', 10);
  await Promise.resolve();
  void work('large', 4096);
  void work('second', 4096);
  await Promise.resolve();
  expect(order).toEqual(['first', 'large']);
  await endTurn();
  expect(order).toEqual(['first', 'large', 'second']);
});

test('the memory budget refuses a body that does not fit, and accepts it once other bodies are released', () => {
  const { bodies } = open(100 * 1024);
  bodies.hold(kilobytes(60));
  bodies.hold(kilobytes(4));
  expect(() => bodies.hold(kilobytes(60))).toThrow(expect.objectContaining({ code: 'backpressure' }));
  expect(bodies.held).toBe(60 * 1024);
  bodies.release(kilobytes(60));
  bodies.release(kilobytes(4));
  expect(bodies.held).toBe(0);
  bodies.hold(kilobytes(100));
});

test('the waiting bodies of one sender use at most half of the memory budget', () => {
  const { bodies } = open(200 * 1024);
  const wait = (sender: string) => void bodies.waitForSlot(kilobytes(60), sender);
  for (let n = 0; n < 2; n += 1) wait('noisy'); // The first body does not wait in the queue.
  expect(() => wait('noisy')).toThrow(expect.objectContaining({ code: 'backpressure' }));
  wait('quiet');
});
