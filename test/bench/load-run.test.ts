import { expect, test } from 'vitest';
import { Histogram } from '../../src/bench/load/histogram.ts';
import { LoadRun, newSlot, type Slot } from '../../src/bench/load/load-run.ts';
import type { TimerClock } from '../../src/runtime/clock.ts';

/** A clock that advances by a number of milliseconds at each reading. */
class SteppingClock implements TimerClock {
  #time = 1_000;
  readonly #step: number;

  constructor(step: number) {
    this.#step = step;
  }

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    this.#time += this.#step;
    return this.#time;
  }

  advance(ms: number): void {
    this.#time += ms;
  }

  after(ms: number, callback: () => void): void {
    this.#time += ms;
    setImmediate(callback);
  }
}

const whole = { index: 0, of: 1 };

/** Runs 100 requests at 100 per second, whose responses arrive at once. @param stallAt the request after which the clock jumps by 500 ms */
async function run({ stallAt = -1, step = 0.25 } = {}) {
  const clock = new SteppingClock(step);
  const due: number[] = [];
  const load: LoadRun<Slot> = new LoadRun(
    { warmupSeconds: 0, seconds: 1, rate: 100 },
    whole,
    clock,
    (slot) => {
      due.push(slot.dueAt);
      setImmediate(() => {
        if (due.length === stallAt) clock.advance(500);
        load.answered(slot, true);
      });
    },
  );
  for (let slot = 0; slot < 2; slot++) load.add({ ...newSlot });
  const { latencies, lateness, ...measured } = await load.run();
  return { ...measured, due, latencies: new Histogram(latencies), lateness: new Histogram(lateness) };
}

test('an open loop sends at its intended times, which do not drift', async () => {
  const { due, sent, lateness } = await run({ step: 0.7 });
  expect(sent).toBe(100);
  for (const [request, at] of due.entries()) expect(at).toBeCloseTo(due[0]! + request * 10, 6);
  expect(lateness.quantile(1)).toBeLessThan(10);
});

test('a stall of the target counts for every request that was due meanwhile', async () => {
  const { due, sent, latencies } = await run({ stallAt: 30 });
  expect(sent).toBe(100);
  for (const [request, at] of due.entries()) expect(at).toBeCloseTo(due[0]! + request * 10, 6);
  // Fifty requests were due in the half second: one more every 10 ms.
  expect(latencies.quantile(1)).toBeGreaterThan(480);
  expect(latencies.quantile(0.75)).toBeGreaterThan(200);
  expect(latencies.quantile(0.4)).toBeLessThan(50);
});

test('lateness is the delay of the generator, not of the target', async () => {
  const clock = new SteppingClock(0.25);
  const load: LoadRun<Slot> = new LoadRun(
    { warmupSeconds: 0, seconds: 1, rate: 10 },
    whole,
    clock,
    (slot) => {
      // The only connection is busy until the next three are due.
      clock.advance(300);
      setImmediate(() => load.answered(slot, true));
    },
  );
  load.add({ ...newSlot });
  const { sent, latencies, lateness } = await load.run();
  expect(sent).toBe(10);
  expect(new Histogram(latencies).quantile(1)).toBeGreaterThan(1_000);
  expect(new Histogram(lateness).quantile(1)).toBeLessThan(100);
});

test('a generator that is held up reports its lateness', async () => {
  const clock = new SteppingClock(0.25);
  let held = false;
  const load: LoadRun<Slot> = new LoadRun(
    { warmupSeconds: 0, seconds: 1, rate: 100 },
    whole,
    clock,
    (slot) => void setImmediate(() => load.answered(slot, true)),
  );
  for (let slot = 0; slot < 50; slot++) load.add({ ...newSlot });
  setImmediate(() => {
    held = true;
    clock.advance(400);
  });
  const { lateness, own, others } = await load.run();
  expect(held).toBe(true);
  expect(new Histogram(lateness).quantile(1)).toBeGreaterThan(350);
  expect(new Histogram(own).quantile(1)).toBeGreaterThan(350);
  expect(new Histogram(others).quantile(1)).toBeLessThan(50);
});

test('the delays of a slow target are not in the share of the generator', async () => {
  const clock = new SteppingClock(0.25);
  const load: LoadRun<Slot> = new LoadRun(
    { warmupSeconds: 0, seconds: 1, rate: 10 },
    whole,
    clock,
    (slot) => {
      const end = clock.now() + 300;
      const look = () => {
        if (clock.now() < end) setImmediate(look);
        else load.answered(slot, true);
      };
      setImmediate(look);
    },
  );
  for (let slot = 0; slot < 5; slot++) load.add({ ...newSlot });
  const { own, others } = await load.run();
  expect(new Histogram(own).quantile(1)).toBeLessThan(50);
  expect(new Histogram(others).quantile(0.01)).toBeGreaterThan(250);
});
