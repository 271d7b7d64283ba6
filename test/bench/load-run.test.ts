import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Histogram } from '../../src/bench/load/histogram.ts';
import { closedLoop, LoadRun, newSlot, openLoop, type Schedule, type Slot } from '../../src/bench/load/load-run.ts';
import type { TimerClock } from '../../src/runtime/clock.ts';

/** A clock that advances by a fixed time whenever it is read. */
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

/**
 * Runs 100 requests at 100 per second. Their responses arrive immediately.
 * @param stallAt request after which the clock jumps by 500 ms
 */
async function run({ stallAt = -1, step = 0.25 } = {}) {
  const clock = new SteppingClock(step);
  const due: number[] = [];
  const load: LoadRun<Slot> = new LoadRun({ warmupSeconds: 0, seconds: 1, rate: 100 }, whole, clock, (slot) => {
    due.push(slot.dueAt);
    setImmediate(() => {
      if (due.length === stallAt) clock.advance(500);
      load.countResponse(slot, true);
    });
  });
  for (let slot = 0; slot < 2; slot++) load.add({ ...newSlot });
  const { latencies, lateness, ...measured } = await load.run();
  return { ...measured, due, latencies: new Histogram(latencies), lateness: new Histogram(lateness) };
}

test('an open loop sends each request at its planned time, and the planned times do not drift', async () => {
  const { due, sent, lateness } = await run({ step: 0.7 });
  expect(sent).toBe(100);
  for (const [request, at] of due.entries()) expect(at).toBeCloseTo(due[0]! + request * 10, 6);
  expect(lateness.quantile(1)).toBeLessThan(10);
});

test('a stall of the target increases the latency of every request that was due during the stall', async () => {
  const { due, sent, latencies } = await run({ stallAt: 30 });
  expect(sent).toBe(100);
  for (const [request, at] of due.entries()) expect(at).toBeCloseTo(due[0]! + request * 10, 6);
  // During this half second, fifty requests were due, one every 10 ms.
  expect(latencies.quantile(1)).toBeGreaterThan(480);
  expect(latencies.quantile(0.75)).toBeGreaterThan(200);
  expect(latencies.quantile(0.4)).toBeLessThan(50);
});

test('a run that is shorter than the first response measures that response', async () => {
  const clock = new SteppingClock(0);
  const load: LoadRun<Slot> = new LoadRun({ warmupSeconds: 0.1, seconds: 0.25 }, whole, clock, (slot) => {
    clock.advance(500);
    setImmediate(() => load.countResponse(slot, true));
  });
  load.add({ ...newSlot });
  const { sent, rps, latencies } = await load.run();
  expect(sent).toBe(1);
  expect(rps).toBeCloseTo(2.5, 1);
  expect(new Histogram(latencies).quantile(0.5)).toBeCloseTo(500, -1);
});

test('lateness contains the delay of the generator, but not the delay of the target', async () => {
  const clock = new SteppingClock(0.25);
  const load: LoadRun<Slot> = new LoadRun({ warmupSeconds: 0, seconds: 1, rate: 10 }, whole, clock, (slot) => {
    // While the only connection is busy, the next three requests become due.
    clock.advance(300);
    setImmediate(() => load.countResponse(slot, true));
  });
  load.add({ ...newSlot });
  const { sent, latencies, lateness } = await load.run();
  expect(sent).toBe(10);
  expect(new Histogram(latencies).quantile(1)).toBeGreaterThan(1_000);
  expect(new Histogram(lateness).quantile(1)).toBeLessThan(100);
});

test('a generator that is delayed reports its lateness', async () => {
  const clock = new SteppingClock(0.25);
  let held = false;
  const load: LoadRun<Slot> = new LoadRun(
    { warmupSeconds: 0, seconds: 1, rate: 100 },
    whole,
    clock,
    (slot) => void setImmediate(() => load.countResponse(slot, true)),
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

test("the generator's share of the latency does not contain the delays of a slow target", async () => {
  const clock = new SteppingClock(0.25);
  const load: LoadRun<Slot> = new LoadRun({ warmupSeconds: 0, seconds: 1, rate: 10 }, whole, clock, (slot) => {
    const end = clock.now() + 300;
    const look = () => {
      if (clock.now() < end) setImmediate(look);
      else load.countResponse(slot, true);
    };
    setImmediate(look);
  });
  for (let slot = 0; slot < 5; slot++) load.add({ ...newSlot });
  const { own, others } = await load.run();
  expect(new Histogram(own).quantile(1)).toBeLessThan(50);
  expect(new Histogram(others).quantile(0.01)).toBeGreaterThan(250);
});

describe('closedLoop', () => {
  it('closedLoop always has a due request until its end time', () => {
    const schedule = closedLoop(100, Number.POSITIVE_INFINITY);
    expect([schedule.next(0), schedule.next(0), schedule.next(99), schedule.next(100)]).toEqual([0, 0, 99, undefined]);
    expect([schedule.over(99), schedule.over(100)]).toEqual([false, true]);
  });

  it('closedLoop ends after its limit', () => {
    const schedule = closedLoop(100, 2);
    expect([schedule.next(0), schedule.next(1), schedule.next(2)]).toEqual([0, 1, undefined]);
    expect(schedule.over(3)).toBe(true);
  });
});

describe('openLoop', () => {
  it('openLoop schedules requests at equal intervals, and returns no request before its due time', () => {
    const schedule = openLoop(1_000, 100, 1);
    expect([schedule.next(1_000), schedule.next(1_000), schedule.next(1_015)]).toEqual([1_000, undefined, 1_010]);
  });

  it('openLoop keeps the planned times after a stall', () => {
    const schedule = openLoop(0, 100, 0.05);
    const due = Array.from({ length: 6 }, () => schedule.next(5_000));
    expect(due).toEqual([0, 10, 20, 30, 40, undefined]);
    expect(schedule.over(5_000)).toBe(true);
  });
});

describe('a divided schedule', () => {
  const parts = fc.record({
    rate: fc.integer({ min: 1, max: 1_000 }),
    seconds: fc.integer({ min: 1, max: 5 }),
    of: fc.integer({ min: 1, max: 9 }),
  });

  it('the parts of a divided schedule include each request once, at its planned time', () => {
    fc.assert(
      fc.property(parts, ({ rate, seconds, of }) => {
        const due = Array.from({ length: of }, (_, index) => all(openLoop(500, rate, seconds, { index, of }), late));
        const whole = all(openLoop(500, rate, seconds), late);
        expect(due.flat().toSorted((a, b) => a - b)).toEqual(whole);
        expect(whole).toEqual(whole.map((_, request) => 500 + (request * 1000) / rate));
      }),
      { numRuns: 20 },
    );
  });

  it('the limits of the parts of a divided schedule add up to the limit of the whole schedule', () => {
    const shares = [0, 1, 2].map((index) => all(closedLoop(100, 7, { index, of: 3 })));
    expect(shares.map(({ length }) => length)).toEqual([3, 2, 2]);
  });
});

const late = 1e6;

/** Returns all requests of a schedule at a time at which all of them are due. */
function all(schedule: Schedule, now = 99): number[] {
  const due: number[] = [];
  for (let next = schedule.next(now); next !== undefined; next = schedule.next(now)) due.push(next);
  return due;
}
