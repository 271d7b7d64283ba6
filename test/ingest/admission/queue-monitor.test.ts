import { describe, expect, test } from 'vitest';
import { QueueMonitor, queuesMemory, SharedQueues } from '../../../src/storage/commit/queue-monitor.ts';

const marks = { packets: { high: 4, low: 2 }, bytes: { high: 1000, low: 500 }, age: { high: 5000, low: 1000 } };

function fill(monitor: QueueMonitor, packets: number, bytes: number, now = 0, application = 1) {
  const group = monitor.open(now);
  for (let packet = 0; packet < packets; packet += 1) monitor.join(group, application, bytes, { monotonic: () => now });
  return group;
}

test.each([
  { what: 'packets', packets: 4, bytes: 1, now: 0 },
  { what: 'bytes', packets: 2, bytes: 500, now: 0 },
  { what: 'the age of the oldest packet', packets: 1, bytes: 1, now: 5001 },
])('the queue stops admitting messages at the high-water mark of $what', ({ packets, bytes, now }) => {
  const monitor = new QueueMonitor(marks);
  expect(monitor.admits(0)).toBe(true);
  fill(monitor, packets, bytes);
  expect(monitor.admits(now)).toBe(false);
});

test('a closed queue reopens only at the low-water marks', () => {
  const monitor = new QueueMonitor(marks);
  const first = fill(monitor, 1, 1);
  const second = fill(monitor, 1, 1);
  fill(monitor, 2, 1);
  expect(monitor.admits(0)).toBe(false);
  monitor.leave(first);
  expect(monitor.packets).toBe(3);
  expect(monitor.admits(0)).toBe(false);
  monitor.leave(second);
  expect(monitor.admits(0)).toBe(true);
});

test('an empty queue always admits messages', () => {
  const monitor = new QueueMonitor({ ...marks, packets: { high: 1, low: 0 } });
  const group = fill(monitor, 1, 2000);
  expect(monitor.admits(9999)).toBe(false);
  monitor.leave(group);
  expect(monitor.admits(9999)).toBe(true);
});

test('a second call of leave for a batch does not change the size of the queue', () => {
  const monitor = new QueueMonitor(marks);
  const group = fill(monitor, 2, 10);
  monitor.leave(group);
  monitor.leave(group);
  expect([monitor.packets, monitor.bytes]).toEqual([0, 0]);
});

test('the retry delay grows with the age of the oldest packet, up to a minute', () => {
  const monitor = new QueueMonitor(marks);
  fill(monitor, 1, 1);
  expect(monitor.retryAfter(0)).toBe(1);
  expect(monitor.retryAfter(7500)).toBe(8);
  expect(monitor.retryAfter(1e9)).toBe(60);
});

test('a closed queue reopens once the disk is writing all waiting packets, even above the low-water mark', () => {
  const monitor = new QueueMonitor(marks);
  const first = fill(monitor, 1, 1);
  const second = fill(monitor, 3, 1);
  monitor.begin(first);
  expect(monitor.admits(0)).toBe(false);
  monitor.leave(first);
  expect([monitor.packets, monitor.admits(0)]).toEqual([3, false]);
  monitor.begin(second);
  expect([monitor.packets, monitor.admits(0)]).toEqual([3, true]);
});

test('a queue at the high-water mark stays closed even if the disk is writing all waiting packets', () => {
  const monitor = new QueueMonitor(marks);
  monitor.begin(fill(monitor, 4, 1));
  expect(monitor.admits(0)).toBe(false);
});

test.each([
  { what: 'packets', packets: 2, bytes: 1 },
  { what: 'bytes', packets: 1, bytes: 500 },
])(
  'one application can fill half of the allowed $what, and other active applications can fill the rest',
  ({ packets, bytes }) => {
    const monitor = new QueueMonitor(marks);
    monitor.leave(fill(monitor, 1, 1, 0, 2));
    const group = fill(monitor, packets, bytes, 0, 1);
    expect([monitor.admits(0), monitor.admitsApplication(1, 0), monitor.admitsApplication(2, 0)]).toEqual([
      true,
      false,
      true,
    ]);
    monitor.leave(group);
    expect(monitor.admitsApplication(1, 0)).toBe(true);
  },
);

test('an application can fill the queue after ten seconds without messages from other applications', () => {
  const monitor = new QueueMonitor(marks);
  fill(monitor, 3, 1, 0, 1);
  expect(monitor.admitsApplication(1, 0)).toBe(true);
  monitor.leave(fill(monitor, 1, 1, 5, 2));
  expect(monitor.admitsApplication(1, 10_005)).toBe(false);
  expect(monitor.admitsApplication(1, 10_006)).toBe(true);
});

describe('QueueMonitor of several threads', () => {
  /** Opens the monitors of a main thread and two other threads. Each clock starts 100 ms after the previous clock. */
  function openQueues() {
    const memory = queuesMemory(3);
    return [0, 1, 2].map((thread) => new QueueMonitor(marks, new SharedQueues(memory, thread, 100 * thread)));
  }

  test('the packets in the queues of all threads count towards the limits together', () => {
    const [main, one, two] = openQueues() as [QueueMonitor, QueueMonitor, QueueMonitor];
    const group = fill(one, 2, 10);
    fill(two, 2, 10);
    expect([main.admits(0), one.admits(0), two.admits(0)]).toEqual([false, false, false]);
    expect([main.packets, main.bytes]).toEqual([4, 40]);
    one.begin(group);
    one.leave(group);
    expect(main.admits(0.5)).toBe(false);
    expect(main.admits(1)).toBe(true);
  });

  test('each thread closes its queue by the age of the oldest batch of all threads', () => {
    const [main, one] = openQueues() as [QueueMonitor, QueueMonitor];
    expect(main.admits(0)).toBe(true);
    fill(one, 1, 1, 50);
    expect(main.admits(150)).toBe(true);
    expect(main.oldest(250)).toBe(100);
    expect(main.retryAfter(3149)).toBe(3);
    expect(main.admits(5151)).toBe(false);
  });

  test('an application can fill only half of the queue of a thread, except in the main thread', () => {
    const [main, one, two] = openQueues() as [QueueMonitor, QueueMonitor, QueueMonitor];
    for (const monitor of [main, one, two]) {
      fill(monitor, 1, 1, 0, 2);
      fill(monitor, 1, 1, 0, 1);
    }
    expect([main, one, two].map((monitor) => monitor.admitsApplication(1, 0))).toEqual([true, false, false]);
  });
});
