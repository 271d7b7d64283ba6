import { expect, test } from 'vitest';
import type { Batch } from '../../../src/storage/commit/batch.ts';
import { CommitError } from '../../../src/storage/commit/committer.ts';
import { openLane, turn } from '../../support/open-lane.ts';

test('the packets of one event loop iteration are written in one commit', async () => {
  const { begun, send } = openLane();
  send(3);
  await turn();
  send(2);
  await turn();
  expect(begun).toHaveLength(1);
});

test('a full batch is committed within the event loop iteration, and later packets form the next commit', async () => {
  const { begun, heard, send } = openLane(1000);
  send(128);
  await Promise.resolve();
  expect(begun).toHaveLength(1);
  send(3);
  await turn();
  expect(begun).toHaveLength(1);
  await begun[0]?.end();
  await begun[1]?.end();
  expect(heard).toEqual([128, 3]);
  send(1);
  await turn();
  expect(begun).toHaveLength(3);
});

test('the next batch fills during a commit, and is committed once the first batch is on disk', async () => {
  const { begun, heard, send } = openLane();
  send(1);
  await turn();
  send(4);
  await turn();
  expect(begun).toHaveLength(1);
  await begun[0]?.end();
  expect(begun).toHaveLength(2);
  await begun[1]?.end();
  expect(heard).toEqual([1, 4]);
});

test('a sender gets its response only once its own batch is on disk', async () => {
  const { begun, send } = openLane();
  let first = false;
  let second = false;
  send(1)[0]?.then(() => {
    first = true;
  });
  await turn();
  send(1)[0]?.then(() => {
    second = true;
  });
  await turn();
  expect([first, second]).toEqual([false, false]);
  await begun[0]?.end();
  expect([first, second]).toEqual([true, false]);
  await begun[1]?.end();
  expect([first, second]).toEqual([true, true]);
});

test('a batch contains at most the maximum number of packets', async () => {
  const { begun, heard, send } = openLane(2);
  send(5);
  await turn();
  for (let at = 0; at < 3; at += 1) await begun[at]?.end();
  expect(heard).toEqual([2, 2, 1]);
});

const large = (batch: Batch) => {
  for (let record = 0; record < 20_000; record += 1) batch.counts.add(1, 1, 1, 1, 1);
};

test('packets that need much memory are spread over several commits', async () => {
  const { lane, begun, heard } = openLane();
  for (let packet = 0; packet < 3; packet += 1) lane.submit(1, large);
  await turn();
  for (let at = 0; at < 3; at += 1) await begun[at]?.end();
  expect(heard).toEqual([1, 1, 1]);
});

test('an application that fills several batches leaves room for another application in the first batch', async () => {
  const { lane, begun } = openLane();
  lane.submit(1, large);
  await turn();
  const noisy = Array.from({ length: 5 }, () => lane.submit(1, large));
  const quiet = lane.submit(2, () => {});
  expect(noisy.indexOf(quiet)).toBe(0);
  expect(lane.submit(1, () => {})).not.toBe(quiet);
  for (let at = 0; at < 6; at += 1) await begun[at]?.end();
});

test('the packets of an application are committed in order of arrival, even if other applications send, too', async () => {
  const { lane, begun } = openLane(2);
  const order: Promise<void>[] = [];
  const batches = new Map<number, Promise<void>[]>();
  for (let packet = 0; packet < 60; packet += 1) {
    const application = (packet * packet) % 7;
    const batch = lane.submit(application, packet % 5 === 0 ? large : () => {});
    void batch.then(() => order.includes(batch) || order.push(batch));
    batches.set(application, [...(batches.get(application) ?? []), batch]);
  }
  await turn();
  for (let at = 0; at < begun.length; at += 1) await begun[at]?.end();
  for (const own of batches.values()) {
    const places = own.map((batch) => order.indexOf(batch));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  }
});

test('the size of a batch is limited for any number of applications', async () => {
  const { lane } = openLane(10);
  const batches = new Set<Batch>();
  for (let application = 0; application < 100; application += 1) {
    void lane.submit(application, (batch) => void batches.add(batch));
  }
  expect([...batches].map(({ packets }) => packets)).toEqual([20, 20, 20, 20, 20]);
});

test('a failed commit refuses the packets of all its senders, but refuses no packet of the next commit', async () => {
  const { begun, heard, send } = openLane();
  const lost = send(2);
  await turn();
  const kept = send(1);
  const failure = new CommitError('no room', 28);
  await begun[0]?.end(failure);
  await begun[1]?.end();
  for (const response of lost) await expect(response).rejects.toMatchObject({ code: 'store_unavailable' });
  await expect(kept[0]).resolves.toBeUndefined();
  expect(heard).toEqual([failure, 1]);
});

test('the next batch includes the sender records of a failed batch', async () => {
  const { lane, begun, send } = openLane();
  const sender = { name: 'app', version: '1', transport: 'http', route: 'telemetry' } as const;
  const [first, second] = [1, 2].map((ordinal) => ({ environment: 1, ordinal, slot: 9, sender }));
  lane.submit(1, ({ senders }) => senders.push(first!));
  await turn();
  lane.submit(1, ({ senders }) => senders.push(second!));
  await begun[0]?.end(new CommitError('no room', 28));
  expect(begun[1]?.envelope.senders).toEqual([first, second]);
  await begun[1]?.end(new CommitError('no room', 28));
  send(1);
  await turn();
  expect(begun[2]?.envelope.senders).toEqual([first, second]);
});

test('the next batch includes the series of a failed batch', async () => {
  const { lane, begun, send } = openLane();
  const first = { environment: 1, ordinal: 0, name: ['a', 'on'] } as const;
  const second = { environment: 1, ordinal: 1, name: ['b', 'on'] } as const;
  lane.submit(1, ({ series }) => series.push(first));
  await turn();
  lane.submit(1, ({ series }) => series.push(second));
  await begun[0]?.end(new CommitError('no room', 28));
  expect(begun[1]?.envelope.series).toEqual([first, second]);
  await begun[1]?.end();
  send(1);
  await turn();
  expect(begun[2]?.envelope.series).toEqual([]);
});

test('the queue monitor counts packets until they are on disk or refused', async () => {
  const { monitor, begun, send } = openLane();
  send(3);
  expect([monitor.packets, monitor.bytes]).toEqual([3, 3 * 1024]);
  await turn();
  await begun[0]?.end();
  expect([monitor.packets, monitor.bytes]).toEqual([0, 0]);
});

test('a barrier resolves when earlier packets of the application are on disk, and is not counted as a packet', async () => {
  const { lane, monitor, begun, heard, send } = openLane();
  const packet = send(1);
  await turn();
  let fallen = false;
  const barrier = lane.barrier(1).then(() => {
    fallen = true;
  });
  expect(monitor.packets).toBe(1);
  await begun[0]?.end();
  await packet[0];
  // A sender makes this call when it receives its response. The barrier must also wait for this ledger count.
  lane.ledger.add({ application: 1, hour: 0, subject: '{}' }, 0);
  await begun[1]?.end();
  expect(fallen).toBe(false);
  await turn();
  await begun[2]?.end();
  await barrier;
  expect([1, 2].flatMap((at) => begun[at]!.envelope.ledger)).toHaveLength(1);
  expect(heard).toEqual([1, 0, 0]);
});

test('a barrier rejects if the commit it waits for fails', async () => {
  const { lane, begun } = openLane();
  const barrier = lane.barrier(1);
  await turn();
  await Promise.all([
    expect(barrier).rejects.toMatchObject({ code: 'store_unavailable' }),
    begun[0]?.end(new CommitError('no room', 28)),
  ]);
});

test('settled resolves once the earlier packets of a commit lane are on disk or refused, despite later packets', async () => {
  const { lane, begun, send } = openLane();
  let settled = 0;
  const settle = () => {
    void lane.settled().then(() => {
      settled += 1;
    });
  };
  settle();
  await turn();
  expect(settled).toBe(1);
  send(1);
  await turn();
  send(1);
  settle();
  await begun[0]?.end();
  send(1);
  expect(settled).toBe(1);
  await begun[1]?.end(new Error('full'));
  expect(settled).toBe(2);
  expect(begun).toHaveLength(3);
});

test('a commit lane is idle only once all of its packets are on disk or refused', async () => {
  const { lane, begun, send } = openLane(1);
  let idle = false;
  send(2);
  void lane.idle().then(() => {
    idle = true;
  });
  await turn();
  await begun[0]?.end();
  expect(idle).toBe(false);
  await begun[1]?.end();
  expect(idle).toBe(true);
});
