import { expect, test } from 'vitest';
import { Outbox } from '../../src/runtime/outbox.ts';

/** Opens an outbox that sends immediately at most twice a second, with a test clock. */
function openOutbox() {
  const time = { now: 0, timers: [] as { readonly at: number; readonly run: () => void }[], sent: 0 };
  const clock = {
    now: () => time.now,
    monotonic: () => time.now,
    after: (ms: number, run: () => void) => void time.timers.push({ at: time.now + ms, run }),
  };
  const advance = (ms: number) => {
    time.now += ms;
    const due = time.timers.filter(({ at }) => at <= time.now);
    time.timers = time.timers.filter(({ at }) => at > time.now);
    for (const { run } of due) run();
  };
  const send = () => {
    time.sent += 1;
  };
  return { outbox: new Outbox(clock, send, 2), time, advance };
}

test('an outbox sends changes immediately up to its rate, and further changes together within a second', () => {
  const { outbox, time, advance } = openOutbox();
  outbox.send();
  outbox.send();
  expect(time.sent).toBe(2);
  for (let times = 0; times < 10; times += 1) outbox.send();
  expect(time.sent).toBe(2);
  advance(1000);
  expect(time.sent).toBe(3);
  outbox.send();
  expect(time.sent).toBe(4);
});

test('an outbox collects changes that can wait, and sends them together within a second', () => {
  const { outbox, time, advance } = openOutbox();
  outbox.sendLater();
  outbox.sendLater();
  advance(999);
  expect(time.sent).toBe(0);
  advance(1);
  expect(time.sent).toBe(1);
  advance(5000);
  expect(time.sent).toBe(1);
});
