import { expect, test } from 'vitest';
import { Trailers } from '../../src/grpc/call.ts';

const immediate = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Adds calls. Returns an array to which each call appends its number when its trailers are sent. */
function addCalls(trailers: Trailers, count: number): number[] {
  const sent: number[] = [];
  for (let n = 0; n < count; n += 1) trailers.add({ sendTrailers: () => sent.push(n) });
  return sent;
}

test('trailers of a few calls are sent together, in order, at the end of the event loop iteration', async () => {
  const sent = addCalls(new Trailers(), 5);
  expect(sent).toEqual([]);
  await immediate();
  expect(sent).toEqual([0, 1, 2, 3, 4]);
});

test('trailers are sent immediately in groups of 64, and the rest at the end of the event loop iteration', async () => {
  const sent = addCalls(new Trailers(), 130);
  expect(sent).toHaveLength(128);
  await immediate();
  expect(sent).toEqual(Array.from({ length: 130 }, (_, n) => n));
});

test('trailers of later calls are sent in later event loop iterations', async () => {
  const trailers = new Trailers();
  for (let turn = 0; turn < 3; turn += 1) {
    const sent = addCalls(trailers, 1);
    await immediate();
    expect(sent).toEqual([0]);
  }
});
