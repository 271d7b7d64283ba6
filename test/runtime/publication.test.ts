import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { Publisher, publication, Subscriber } from '../../src/runtime/publication.ts';
import { sourceThreads } from '../support/source-thread.ts';
import type { PublicationStart, SeenState } from './publication-thread.ts';

/** Opens a channel with both ends in this thread. @returns the publisher, the subscriber and the applied messages */
function pair() {
  const { from, to } = publication();
  const applied: string[] = [];
  const publisher = new Publisher<string>(from);
  let next = (_: string) => {};
  const subscriber = new Subscriber<string>(to, (message) => {
    applied.push(message);
    next(message);
  });
  onTestFinished(() => {
    subscriber.close();
    publisher.close();
  });
  const applies = () => new Promise<string>((resolve) => (next = resolve));
  return { publisher, subscriber, applied, applies };
}

test('a subscriber that catches up applies all published messages once, in order', () => {
  const { publisher, subscriber, applied } = pair();
  publisher.publish('one');
  publisher.publish('two');
  expect(applied).toEqual([]);
  subscriber.catchUp();
  expect(applied).toEqual(['one', 'two']);
  subscriber.catchUp();
  publisher.publish('three');
  subscriber.catchUp();
  expect(applied).toEqual(['one', 'two', 'three']);
});

test('a subscriber applies messages even without a call of catchUp', async () => {
  const { publisher, applied, applies } = pair();
  for (const message of ['one', 'two']) {
    const applying = applies();
    publisher.publish(message);
    expect(await applying).toBe(message);
  }
  expect(applied).toEqual(['one', 'two']);
});

test('a subscriber does not retry a message that it failed to apply', () => {
  const { from, to } = publication();
  const publisher = new Publisher<number>(from);
  const applied: number[] = [];
  const subscriber = new Subscriber<number>(to, (message) => {
    applied.push(message);
    if (message === 1) throw new Error('not applied');
  });
  onTestFinished(() => subscriber.close());
  publisher.publish(1);
  publisher.publish(2);
  expect(() => subscriber.catchUp()).toThrow('not applied');
  subscriber.catchUp();
  expect(applied).toEqual([1, 2]);
});

test('a closed subscriber applies no messages', () => {
  const { publisher, subscriber, applied } = pair();
  publisher.publish('one');
  subscriber.close();
  subscriber.catchUp();
  expect(applied).toEqual([]);
});

test('a subscriber closes after the publisher has closed, and applies no later messages', async () => {
  const { publisher, subscriber, applied } = pair();
  publisher.close();
  await new Promise((resolve) => setImmediate(resolve));
  publisher.publish('one');
  subscriber.catchUp();
  expect(applied).toEqual([]);
});

test('a thread that catches up after a publish call has applied the published message', async () => {
  const start = await sourceThreads('test/runtime/publication-thread.ts');
  const news = publication();
  const back = publication();
  const published = new Int32Array(new SharedArrayBuffer(4));
  const data: PublicationStart = { news: news.to, back: back.to, published };
  start(data, [news.to.port, back.to.port]);
  let last = 0;
  const publisher = new Publisher<number>(news.from);
  let heard = (_: SeenState | 'ready') => {};
  const hears = () => new Promise<SeenState | 'ready'>((resolve) => (heard = resolve));
  const subscriber = new Subscriber<SeenState | 'ready'>(back.from, (message) => heard(message));
  onTestFinished(() => subscriber.close());
  expect(await hears()).toBe('ready');
  const bursts = fc.array(fc.nat(20), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(bursts, async (sizes) => {
      for (const size of sizes) {
        for (let count = 0; count < size; count += 1) {
          last += 1;
          publisher.publish(last);
          Atomics.store(published, 0, last);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );
  const seen = hears();
  Atomics.store(published, 0, -1);
  expect(await seen).toMatchObject({ disordered: 0, late: 0 });
});
