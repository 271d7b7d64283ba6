import { expect, test } from 'vitest';
import { openLane, turn } from '../../support/open-lane.ts';

const delayed = { commitDelay: 5, commitSiblings: 4 };

test('a commit lane without a delay sets no timer', async () => {
  const { begun, send, time } = openLane();
  send(3);
  await turn();
  expect([begun.length, time.timers.length]).toEqual([1, 0]);
});

test('the delay of a commit starts with its first packet, and later packets join the commit', async () => {
  const { begun, heard, send, time } = openLane(10, delayed);
  send(1);
  time.now = 2;
  await turn();
  send(2);
  await turn();
  expect(begun).toHaveLength(0);
  expect(time.timers.map(({ ms }) => ms)).toEqual([3]);
  await time.timers[0]?.end();
  await begun[0]?.end();
  expect(heard).toEqual([3]);
});

test('the delay of a commit ends when as many packets wait as --commit-siblings specifies', async () => {
  const { begun, heard, send, time } = openLane(10, delayed);
  send(3);
  await turn();
  expect(begun).toHaveLength(0);
  send(1);
  await turn();
  await begun[0]?.end();
  await time.timers[0]?.end();
  expect([heard, begun.length]).toEqual([[4], 1]);
});

test('a commit with as many packets as --commit-siblings specifies is not delayed', async () => {
  const { begun, send, time } = openLane(10, delayed);
  send(4);
  await turn();
  expect([begun.length, time.timers.length]).toEqual([1, 0]);
});

test('the delay of a packet includes the time that the packet waits for an earlier commit', async () => {
  const { begun, send, time } = openLane(10, delayed);
  send(4);
  await turn();
  send(1);
  time.now = 5;
  await begun[0]?.end();
  expect([begun.length, time.timers.length]).toEqual([2, 0]);
});

test('neither a full batch nor a batch that a barrier waits for is delayed', async () => {
  const full = openLane(2, delayed);
  full.send(1);
  await turn();
  full.send(2);
  await turn();
  expect(full.begun).toHaveLength(1);
  for (const packetsBefore of [true, false]) {
    const { lane, begun, send } = openLane(10, delayed);
    if (packetsBefore) send(1);
    await turn();
    void lane.barrier(1);
    await turn();
    expect(begun).toHaveLength(1);
  }
});

test('the timer of an earlier batch does not end the delay of a later batch', async () => {
  const { begun, send, time } = openLane(10, delayed);
  send(1);
  await turn();
  send(3);
  await turn();
  await begun[0]?.end();
  send(1);
  await turn();
  await time.timers[0]?.end();
  expect([begun.length, time.timers.length]).toEqual([1, 2]);
});
